// Drizzle over a `pg` pool.
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { Pool } from 'pg'
import { drizzleSteps, drizzleTx } from 'lockstep/drizzle'
import type { Subject } from '../subject.ts'

const orders = pgTable('orders', { id: bigint({ mode: 'bigint' }).primaryKey(), status: text().notNull() })

function database(pool: Pool): ReturnType<typeof drizzle<Record<string, never>>> {
  return drizzle({ client: pool })
}

type Database = ReturnType<typeof database>
export type DrizzleTx = Parameters<Parameters<Database['transaction']>[0]>[0]

export async function drizzleSubject(connectionString: string): Promise<Subject<DrizzleTx>> {
  const pool = new Pool({ connectionString })
  const db = database(pool)
  return {
    completion: drizzleSteps(db),
    join: drizzleTx,
    transaction: async (body) => db.transaction(body),
    nested: async (tx, body) => tx.transaction(body),
    async run(tx, statement) {
      await tx.execute(sql.raw(statement))
    },
    async insert(tx, id, status) {
      await tx.insert(orders).values({ id, status })
    },
    wrong: {
      // @ts-expect-error the database is no transaction
      'the database': () => drizzleTx(db),
      // @ts-expect-error nothing is no transaction
      nothing: () => drizzleTx(null),
    },
    afterEnd: 'refused',
    close: async () => pool.end(),
  }
}
