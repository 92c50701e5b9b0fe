// What became of a step whose COMMIT was not answered, read from the step's row.
import type { Executor } from '../db/executor.ts'
import { fateOf, type CompletionFate } from './node-lines.ts'

export async function stepOf(db: Executor, runId: string, leaseId: string, name: string): Promise<CompletionFate> {
  const [row] = await db.rows('select lockstep.step_of($1::uuid, $2, $3)', [runId, leaseId, name])
  return fateOf(row?.[0])
}
