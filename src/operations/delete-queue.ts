// Deletes a queue with all it holds: one short commit, after which its name is free and its leases are dead. What is staged for
// it goes with it; much of that is placed before, visit by visit, so that no statement grows with it and a loss of the process
// between two visits loses nothing.
import type { Executor } from '../db/executor.ts'
import { LIMITS } from '../protocol/limits.ts'

/** Who stages faster than this is not waited for. */
const VISITS = 1_000

export async function deleteQueue(db: Executor, name: string): Promise<{ readonly existed: boolean }> {
  for (let visit = 1; ; visit++) {
    const most = visit > VISITS ? null : String(LIMITS.placedPerVisit)
    const [row] = await db.rows('select lockstep.delete_queue($1, $2::int)', [name, most])
    const existed = row?.[0] ?? null
    if (existed !== null) return { existed: existed === 't' }
    await db.rows('select lockstep.place_queue($1)', [name])
  }
}
