// Kysely on PostgreSQL. `in(kyselyTx(trx))` joins its open transaction, controlled or with a callback; `kyselySteps(db)` lets a
// step complete in one. It keeps its pool to itself, so pass that too, or listen for the errors of its clients yourself.
import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import type { Completion, Door } from '../protocol/completion.ts'
import { joinable, refuseTransaction, type Joinable } from '../protocol/joinable.ts'
import { calmPool } from './calm-pool.ts'
import { textOfResult } from './first-text.ts'

export interface KyselyStepsOptions {
  /** The `pg` pool of the dialect: a backend that ends under a step then ends the step, not the process. */
  readonly pool?: object | undefined
}

function door<DB>(trx: Transaction<DB>): Door {
  return {
    text: async (statement, params) => textOfResult(await trx.executeQuery(CompiledQuery.raw(statement, [...params]))),
  }
}

function check(trx: unknown): void {
  if (typeof trx !== 'object' || trx === null || Reflect.get(trx, 'isTransaction') !== true) {
    refuseTransaction(
      'kyselyTx(trx) takes the trx of db.transaction().execute(…) or of startTransaction(), not the database',
    )
  }
  if (Reflect.get(trx, 'isCommitted') === true || Reflect.get(trx, 'isRolledBack') === true) {
    refuseTransaction('kyselyTx(trx) was given a transaction that has ended')
  }
}

export function kyselyTx<DB>(trx: Transaction<DB>): Joinable {
  return joinable({ library: 'kysely', door: door(trx), check: () => check(trx) })
}

export function kyselySteps<DB>(db: Kysely<DB>, { pool }: KyselyStepsOptions = {}): Completion<Transaction<DB>> {
  calmPool(pool)
  return {
    library: 'kysely',
    transaction: async (body) => db.transaction().setIsolationLevel('read committed').execute(body),
    door,
  }
}
