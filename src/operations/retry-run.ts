// Starts a failed or cancelled run again where it stopped. Answers its state, or 'not_found'.
import type { Executor } from '../db/executor.ts'

export async function retryRun(db: Executor, runId: string): Promise<string> {
  const [row] = await db.rows('select lockstep.retry_run($1::uuid)', [runId])
  return row?.[0] ?? 'not_found'
}
