// Sends a signal to a run. Answers 'ok', the state of a run that has ended, or 'not_found'.
import type { Executor } from '../db/executor.ts'

export async function signalRun(db: Executor, runId: string, name: string, payload: string): Promise<string> {
  const [row] = await db.rows('select lockstep.signal_run($1::uuid, $2, $3)', [runId, name, payload])
  return row?.[0] ?? 'not_found'
}
