// Kysely over a `pg` pool.
import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely'
import { Pool } from 'pg'
import { kyselySteps, kyselyTx } from 'lockstep/kysely'
import type { Subject } from '../subject.ts'

interface Tables {
  orders: { id: bigint; status: string }
}

export type KyselyTx = Transaction<Tables>

export async function kyselySubject(connectionString: string): Promise<Subject<KyselyTx>> {
  const pool = new Pool({ connectionString })
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    completion: kyselySteps(db, { pool }),
    join: kyselyTx,
    transaction: async (body) => db.transaction().execute(body),
    async nested(tx, body) {
      // Kysely has savepoints on controlled transactions only; a callback's transaction is given them by statement.
      await tx.executeQuery(CompiledQuery.raw('savepoint inner_one'))
      try {
        await body(tx)
        await tx.executeQuery(CompiledQuery.raw('release savepoint inner_one'))
      } catch (error) {
        await tx.executeQuery(CompiledQuery.raw('rollback to savepoint inner_one'))
        throw error
      }
    },
    async run(tx, statement) {
      await tx.executeQuery(CompiledQuery.raw(statement))
    },
    async insert(tx, id, status) {
      await tx.insertInto('orders').values({ id, status }).execute()
    },
    wrong: {
      // @ts-expect-error the database is no transaction
      'the database': () => kyselyTx(db),
      // @ts-expect-error nothing is no transaction
      nothing: () => kyselyTx(undefined),
    },
    afterEnd: 'rejected',
    close: async () => db.destroy(),
  }
}
