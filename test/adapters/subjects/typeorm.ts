// TypeORM with an entity described without decorators.
import { DataSource, EntitySchema, type EntityManager } from 'typeorm'
import { typeormSteps, typeormTx } from 'lockstep/typeorm'
import type { Subject } from '../subject.ts'

interface Order {
  id: string
  status: string
}

const orderEntity = new EntitySchema<Order>({
  name: 'Order',
  tableName: 'orders',
  columns: { id: { type: 'bigint', primary: true }, status: { type: 'text' } },
})

export async function typeormSubject(connectionString: string): Promise<Subject<EntityManager>> {
  const source = new DataSource({ type: 'postgres', url: connectionString, entities: [orderEntity] })
  await source.initialize()
  return {
    completion: typeormSteps(source),
    join: typeormTx,
    transaction: async (body) => source.transaction(body),
    nested: async (em, body) => em.transaction(body),
    async run(em, statement) {
      await em.query(statement)
    },
    async insert(em, id, status) {
      await em.insert(orderEntity, { id: id.toString(), status })
    },
    wrong: {
      "the data source's own manager": () => typeormTx(source.manager),
      // @ts-expect-error a data source is no entity manager
      'the data source': () => typeormTx(source),
    },
    afterEnd: 'refused',
    close: async () => source.destroy(),
  }
}
