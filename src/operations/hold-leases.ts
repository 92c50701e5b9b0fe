// Holds leases to the end of the transaction it runs in, and names those that are not live. It changes nothing.
import type { Executor } from '../db/executor.ts'

/** The ids among these under which no live lease is held. */
export async function holdLeases(db: Executor, leaseIds: readonly string[]): Promise<readonly string[]> {
  const rows = await db.rows('select unnest(lockstep.hold_leases($1::text[]))', [leaseIds])
  return rows.map(([leaseId]) => leaseId ?? '')
}
