// Gives nodes back at once and spends nothing: the worker shuts down or does not know the action.
import type { Executor } from '../db/executor.ts'
import type { NodeLease } from '../protocol/run.ts'
import { nodeLines } from './node-lines.ts'

export async function handBackNodes(db: Executor, nodes: readonly NodeLease[]): Promise<number> {
  if (nodes.length === 0) return 0
  const [row] = await db.rows('select lockstep.hand_back_joined($1::uuid[], $2::int[], $3::text[])', [
    ...nodeLines(nodes),
  ])
  return Number(row?.[0] ?? 0)
}
