// The record of a named step of code as the last statement of the transaction that holds its own writes. Raises `lease_lost`
// when the run's token no longer holds, so that the COMMIT behind it becomes a rollback.
import type { Door } from '../db/executor.ts'
import type { Command } from '../db/round-trip.ts'
import type { StepRecord } from '../protocol/run.ts'

const RECORD = 'select lockstep.record_step($1::text::uuid, $2::text, $3::text, $4::text)::text as r'

/** For a connection of ours: travels in one message with its COMMIT. */
export function recordCommand(step: StepRecord): Command {
  return { text: RECORD, params: [step.runId, step.leaseId, step.name, step.output] }
}

export async function recordStepIn(door: Door, step: StepRecord): Promise<void> {
  await door.text(RECORD, [step.runId, step.leaseId, step.name, step.output])
}
