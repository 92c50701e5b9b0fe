// How long the oldest due timer has been waiting, in seconds; null when none is pending.
import type { Executor } from '../db/executor.ts'

export async function timersLate(db: Executor): Promise<number | null> {
  const [row] = await db.rows('select lockstep.timers_late()', [])
  const late = row?.[0] ?? null
  return late === null ? null : Number(late)
}
