// Heartbeat: moves the end of live node leases forward; answers which still hold.
import type { Executor } from '../db/executor.ts'
import type { NodeLease } from '../protocol/run.ts'
import { nodeLines } from './node-lines.ts'

export const HEARTBEAT = 'select * from lockstep.heartbeat_joined($1::uuid[], $2::int[], $3::text[], $4::bigint)'

export async function heartbeat(
  db: Executor,
  nodes: readonly NodeLease[],
  leaseMs: number,
): Promise<readonly boolean[]> {
  if (nodes.length === 0) return []
  const held = new Array<boolean>(nodes.length).fill(false)
  for (const [nth, holds] of await db.rows(HEARTBEAT, [...nodeLines(nodes), leaseMs.toString()]))
    held[Number(nth) - 1] = holds === 't'
  return held
}
