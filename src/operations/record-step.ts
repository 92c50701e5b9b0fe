// The record of a named step of code as the last statement of the transaction that holds its own writes. Raises `lease_lost`
// when the run's token no longer holds, so that the COMMIT behind it becomes a rollback.
import type { Door } from '../db/executor.ts'
import type { Command } from '../db/round-trip.ts'
import type { StepRecord } from '../protocol/run.ts'

const RECORD = 'select lockstep.record_step($1::text::uuid, $2::text, $3::text, $4::text, $5::text)::text as r'

type Recorded = StepRecord & { readonly state: 'done' | 'returned' }

const paramsOf = (step: Recorded): string[] => [step.runId, step.leaseId, step.name, step.state, step.output]

/** For a connection of ours: travels in one message with its COMMIT. */
export function recordCommand(step: Recorded): Command {
  return { text: RECORD, params: paramsOf(step) }
}

export async function recordStepIn(door: Door, step: Recorded): Promise<void> {
  await door.text(RECORD, paramsOf(step))
}
