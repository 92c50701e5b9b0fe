// Stops a schedule from firing, or lets it fire again from its first slot after now; false when there is none of the name.
import type { Executor } from '../db/executor.ts'

export async function pauseSchedule(
  db: Executor,
  name: string,
  paused: boolean,
  nextAt: string | null,
): Promise<boolean> {
  const [row] = await db.rows('select lockstep.pause_schedule($1, $2::boolean, $3::timestamptz)', [
    name,
    String(paused),
    nextAt,
  ])
  return row?.[0] === 't'
}
