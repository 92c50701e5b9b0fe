// Knex with its own pool.
import createKnex, { type Knex } from 'knex'
import { knexSteps, knexTx } from 'lockstep/knex'
import type { Subject } from '../subject.ts'

export async function knexSubject(connectionString: string): Promise<Subject<Knex.Transaction>> {
  const knex = createKnex({ client: 'pg', connection: connectionString, pool: { min: 0, max: 10 } })
  return {
    completion: knexSteps(knex),
    join: knexTx,
    transaction: async (body) => knex.transaction(body),
    nested: async (tx, body) => tx.transaction(body),
    async run(tx, statement) {
      await tx.raw(statement)
    },
    async insert(tx, id, status) {
      await tx('orders').insert({ id: id.toString(), status })
    },
    wrong: {
      // @ts-expect-error knex itself is no transaction
      'knex itself': () => knexTx(knex),
      // @ts-expect-error nothing is no transaction
      nothing: () => knexTx(null),
    },
    afterEnd: 'refused',
    close: async () => knex.destroy(),
  }
}
