// Fail: records failures of nodes, each fenced by its token: another attempt after a pause while some remain, else for good.
import type { Executor } from '../db/executor.ts'
import type { Failed, NodeFailure } from '../protocol/run.ts'
import { nodeLines } from './node-lines.ts'

const FAIL =
  'select * from lockstep.fail_joined($1::uuid[], $2::int[], $3::text[], $4::text[], $5::boolean[], $6::bigint[])'

export async function failNodes(db: Executor, nodes: readonly NodeFailure[]): Promise<readonly Failed[]> {
  if (nodes.length === 0) return []
  const rows = await db.rows(FAIL, [
    ...nodeLines(nodes),
    nodes.map((node) => node.error),
    nodes.map((node) => node.retry.toString()),
    nodes.map((node) => node.retryAfterMs?.toString() ?? null),
  ])
  const results = nodes.map((): Failed => ({ ok: false, again: false }))
  for (const [nth, verdict, again] of rows) results[Number(nth) - 1] = { ok: verdict === 'ok', again: again === 't' }
  return results
}
