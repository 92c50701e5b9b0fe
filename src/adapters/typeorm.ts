// TypeORM on PostgreSQL. `in(typeormTx(em))` joins the transaction of an entity manager; `typeormSteps(dataSource)` lets a step
// complete in one. It answers success to a COMMIT that became a rollback, so what it says of a commit is never read.
import type { DataSource, EntityManager } from 'typeorm'
import type { Completion, Door } from '../protocol/completion.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { calmPool } from './calm-pool.ts'
import { firstText } from './first-text.ts'

function door(em: EntityManager): Door {
  return {
    async text(statement, params) {
      const rows: unknown = await em.query(statement, [...params])
      return firstText(rows)
    },
  }
}

function check(em: unknown): void {
  const runner: unknown = typeof em === 'object' && em !== null ? Reflect.get(em, 'queryRunner') : null
  if (typeof runner !== 'object' || runner === null) {
    refuseTransaction(
      'typeormTx(em) takes the manager of dataSource.transaction(async (em) => …), not the data source’s own',
    )
  }
  if (Reflect.get(runner, 'isTransactionActive') !== true) {
    refuseTransaction('typeormTx(em) was given a manager without an open transaction')
  }
}

export function typeormTx(em: EntityManager): Joinable {
  return joinable({ library: 'typeorm', door: door(em), check: () => check(em) })
}

export function typeormSteps(dataSource: DataSource): Completion<EntityManager> {
  return {
    library: 'typeorm',
    async transaction(body) {
      // Its pool is there once it is initialized, and another one after it was destroyed and initialized again.
      calmPool(Reflect.get(dataSource.driver, 'master'))
      return dataSource.transaction('READ COMMITTED', body)
    },
    door,
  }
}
