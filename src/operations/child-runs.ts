// The runs that a run started and that have not ended. Reads only.
import type { Executor } from '../db/executor.ts'

export async function childRuns(db: Executor, runId: string): Promise<readonly string[]> {
  return (await db.rows('select * from lockstep.child_runs($1::uuid)', [runId])).map(([id]) => id ?? '')
}
