// Starts a schedule's run now, outside of its slots; answers the run's id.
import type { Executor } from '../db/executor.ts'
import { mintId } from '../protocol/mint-id.ts'

export async function triggerSchedule(db: Executor, name: string): Promise<string> {
  const [row] = await db.rows('select lockstep.trigger_schedule($1, $2::uuid)', [name, mintId()])
  return row?.[0] ?? ''
}
