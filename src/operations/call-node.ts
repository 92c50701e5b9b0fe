// Starts actions that code calls as nodes of its run, which any worker may take. A name called before answers its node.
import type { Executor } from '../db/executor.ts'

export interface CalledNode {
  readonly name: string
  readonly action: string
  readonly input: string
  readonly priority: number | null
  readonly maxAttempts: number
  readonly backoffMs: number
  readonly backoffMaxMs: number
  readonly limitKey: string | null
  readonly limitMax: number | null
  readonly limitIntervalMs: number | null
  readonly delayMs: number
}

const CALL =
  'select * from lockstep.call_nodes($1::uuid, $2, $3::text[], $4::text[], $5::text[], $6::int[], $7::int[], $8::bigint[], $9::bigint[], $10::text[], $11::int[], $12::bigint[], $13::bigint[])'

/** The node's ordinal; null when the run's token no longer holds. */
export async function callNode(db: Executor, runId: string, leaseId: string, node: CalledNode): Promise<number | null> {
  const [row] = await db.rows(CALL, [
    runId,
    leaseId,
    [node.name],
    [node.action],
    [node.input],
    [node.priority?.toString() ?? null],
    [node.maxAttempts.toString()],
    [node.backoffMs.toString()],
    [node.backoffMaxMs.toString()],
    [node.limitKey],
    [node.limitMax?.toString() ?? null],
    [node.limitIntervalMs?.toString() ?? null],
    [node.delayMs.toString()],
  ])
  return row === undefined ? null : Number(row[1])
}
