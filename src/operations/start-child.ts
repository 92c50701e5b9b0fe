// Starts the run of another workflow for a run of code, once, and answers how that one stands. Raises `lease_lost`.
import type { Executor } from '../db/executor.ts'
import type { OutgoingRun } from '../protocol/run.ts'

export interface ChildRun {
  /** 'pending' until it has ended. */
  readonly state: string
  readonly output: string | null
  readonly error: string | null
}

const START =
  'select * from lockstep.start_child($1::uuid, $2, $3, $4::uuid, $5, $6, $7, $8, $9, $10::int, $11::bigint, $12::bigint)'

export async function startChild(
  db: Executor,
  runId: string,
  leaseId: string,
  step: string,
  child: OutgoingRun,
): Promise<ChildRun> {
  const [row] = await db.rows(START, [
    runId,
    leaseId,
    step,
    child.runId,
    child.workflow,
    child.kind,
    child.version,
    child.shape,
    child.input,
    child.maxAttempts?.toString() ?? null,
    child.backoffMs?.toString() ?? null,
    child.backoffMaxMs?.toString() ?? null,
  ])
  return { state: row?.[0] ?? 'pending', output: row?.[1] ?? null, error: row?.[2] ?? null }
}
