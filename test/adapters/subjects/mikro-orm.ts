// MikroORM, the library with a unit of work.
import { MikroORM, defineEntity, type EntityManager } from '@mikro-orm/postgresql'
import { mikroSteps, mikroTx } from 'lockstep/mikro-orm'
import type { Subject } from '../subject.ts'

const orderEntity = defineEntity({
  name: 'Order',
  tableName: 'orders',
  properties: (p) => ({ id: p.bigint('bigint').primary(), status: p.text() }),
})

export async function mikroSubject(connectionString: string): Promise<Subject<EntityManager>> {
  const orm = await MikroORM.init({ entities: [orderEntity], clientUrl: connectionString, logger() {} })
  return {
    completion: mikroSteps(orm.em),
    join: mikroTx,
    transaction: async (body) => orm.em.fork().transactional(body),
    nested: async (em, body) => em.transactional(body),
    async run(em, statement) {
      await em.execute(statement)
    },
    async insert(em, id, status) {
      em.persist(em.create(orderEntity, { id, status }))
      await em.flush()
    },
    hold(em, id) {
      em.persist(em.create(orderEntity, { id, status: 'held' }))
    },
    wrong: {
      'a fork without a transaction': () => mikroTx(orm.em.fork()),
      // @ts-expect-error the ORM is no entity manager
      'the ORM': () => mikroTx(orm),
    },
    afterEnd: 'rejected',
    close: async () => orm.close(),
  }
}
