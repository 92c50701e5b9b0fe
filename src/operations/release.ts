// Release: hands a lease back at once and spends nothing, for a client that went away and for shutdown.
import type { Executor } from '../db/executor.ts'

/** The number of lanes that were handed back. */
export async function release(db: Executor, leaseId: string): Promise<number> {
  const [row] = await db.rows('select lockstep.release($1)', [leaseId])
  return Number(row?.[0] ?? 0)
}
