// Records steps of many runs that wrote nothing of their own in one commit, each fenced by its run's token.
import type { Executor } from '../db/executor.ts'
import type { StepRecord } from '../protocol/run.ts'

const RECORD = 'select * from lockstep.record_steps_joined($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[])'

/** True where the token held. */
export async function recordSteps(
  db: Executor,
  steps: readonly (StepRecord & { readonly state: 'done' | 'returned' | 'failed' })[],
): Promise<readonly boolean[]> {
  const rows = await db.rows(RECORD, [
    steps.map((step) => step.runId),
    steps.map((step) => step.leaseId),
    steps.map((step) => step.name),
    steps.map((step) => step.state),
    steps.map((step) => step.output),
  ])
  const held = new Array<boolean>(steps.length).fill(false)
  for (const [nth, verdict] of rows) held[Number(nth) - 1] = verdict === 'ok'
  return held
}
