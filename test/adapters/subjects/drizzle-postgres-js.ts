// Drizzle over postgres.js, whose results have another shape than those over `pg`.
import { sql } from 'drizzle-orm'
import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'
import { drizzleSteps, drizzleTx } from 'lockstep/drizzle'
import type { Subject } from '../subject.ts'

const orders = pgTable('orders', { id: bigint({ mode: 'bigint' }).primaryKey(), status: text().notNull() })

export type DrizzlePostgresJsTx = Parameters<Parameters<PostgresJsDatabase['transaction']>[0]>[0]

export async function drizzlePostgresJsSubject(connectionString: string): Promise<Subject<DrizzlePostgresJsTx>> {
  const client = postgres(connectionString, { onnotice() {} })
  const db = drizzle({ client })
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
    },
    afterEnd: 'runs',
    endsItself: true,
    close: async () => client.end(),
  }
}
