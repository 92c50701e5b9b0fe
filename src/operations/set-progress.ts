// Writes how far a node has come, for people, while its token holds.
import type { Executor } from '../db/executor.ts'
import type { NodeLease } from '../protocol/run.ts'

export async function setProgress(db: Executor, node: NodeLease, progress: string): Promise<boolean> {
  const [row] = await db.rows('select lockstep.set_progress($1::uuid, $2::int, $3, $4)', [
    node.runId,
    node.ordinal.toString(),
    node.leaseId,
    progress,
  ])
  return row?.[0] === 't'
}
