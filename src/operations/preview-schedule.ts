// The next slots of a rhythm after the database's now.
import type { Executor } from '../db/executor.ts'
import { checkRhythm, slotsAfter, type Rhythm } from '../protocol/next-slots.ts'

/** ISO-8601 UTC; fewer than asked for when the expression ends. */
export async function previewSchedule(db: Executor, rhythm: Rhythm, count: number): Promise<readonly string[]> {
  checkRhythm(rhythm)
  const [now] = await db.rows('select lockstep.instant_text(lockstep.clock())', [])
  return slotsAfter(rhythm, new Date(now?.[0] ?? Number.NaN), count).map((slot) => slot.toISOString())
}
