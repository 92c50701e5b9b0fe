// Cancels a run and then, each in a commit of its own, the runs that it started. What is left when this process dies
// meanwhile is found by upkeep.
import type { Executor } from '../db/executor.ts'
import { cancelRun } from '../operations/cancel-run.ts'
import { childRuns } from '../operations/child-runs.ts'

/** The state of the first; what was cancelled is told. */
export async function cancelTree(
  db: Executor,
  runId: string,
  reason: string | null,
  cancelled: (runId: string) => void,
): Promise<string> {
  const state = await cancelRun(db, runId, reason)
  if (state !== 'cancelled') return state
  cancelled(runId)
  const open = [...(await childRuns(db, runId))]
  for (let child = open.pop(); child !== undefined; child = open.pop()) {
    if ((await cancelRun(db, child, 'the run that started it was cancelled')) === 'cancelled') cancelled(child)
    open.push(...(await childRuns(db, child)))
  }
  return state
}
