// Sizes of the tables and what the sessions of this database do.
import type { Executor } from '../db/executor.ts'

export async function postgresStats(db: Executor): Promise<unknown> {
  const [row] = await db.rows('select lockstep.postgres_stats()', [])
  return JSON.parse(row?.[0] ?? 'null')
}
