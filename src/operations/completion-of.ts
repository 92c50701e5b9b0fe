// What became of a completion whose COMMIT was not answered, read from the row of its token.
import type { Executor } from '../db/executor.ts'
import type { NodeLease } from '../protocol/run.ts'
import { fateOf, type CompletionFate } from './node-lines.ts'

export async function completionOf(db: Executor, node: NodeLease): Promise<CompletionFate> {
  const [row] = await db.rows('select lockstep.completion_of($1::uuid, $2::int, $3)', [
    node.runId,
    node.ordinal.toString(),
    node.leaseId,
  ])
  return fateOf(row?.[0])
}
