// Cancels one run; the runs it started are cancelled by calls of their own. Answers its state, or 'not_found'.
import type { Executor } from '../db/executor.ts'

export async function cancelRun(db: Executor, runId: string, reason: string | null): Promise<string> {
  const [row] = await db.rows('select lockstep.cancel_run($1::uuid, $2)', [runId, reason])
  return row?.[0] ?? 'not_found'
}
