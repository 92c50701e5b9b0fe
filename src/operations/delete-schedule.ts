// Removes a schedule; false when there is none of the name.
import type { Executor } from '../db/executor.ts'

export async function deleteSchedule(db: Executor, name: string): Promise<boolean> {
  const [row] = await db.rows('select lockstep.delete_schedule($1)', [name])
  return row?.[0] === 't'
}
