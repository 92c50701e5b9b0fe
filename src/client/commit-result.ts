// The verdict on a step as a caller reads it. A rollback is an answer: reason says which of the step's conditions lost,
// and nothing was written.
import { LockstepError } from '../protocol/errors.ts'
import type { KvLoss } from '../protocol/kv.ts'
import type { StepResult } from '../protocol/transaction.ts'
import { timerOutcome, type TimerOutcome } from './timers/timer-outcome.ts'
import type { LockLost } from './guarded-commit.ts'
import { saysLeaseLost } from './ack-input.ts'
import { kvOutcome, lostAlone, type KvOutcome } from './kv-outcome.ts'
import type { OutgoingOperation, OutgoingStep, StepAnswer } from './transport.ts'
import type { Untyped } from './untyped.ts'

export type StepOutcome =
  | {
      readonly type: 'push'
      /** `duplicate`: the same id twice in this step, stored once. */
      readonly status: 'queued' | 'duplicate'
      readonly transactionId: string
      readonly messageId: string
      /** Null when the target partition was busy: the offset is given when the message is placed. */
      readonly offset: number | null
    }
  | {
      readonly type: 'ack'
      readonly transactionId: string
      readonly leaseReleased: boolean
      readonly deadLettered: boolean
      readonly noop: boolean
    }
  | ({ readonly type: 'kv' } & KvOutcome<Untyped>)
  | ({ readonly type: 'timer' } & TimerOutcome)
  | {
      readonly type: 'run'
      readonly runId: string
      /** False: a known key, and this is the run that has it. */
      readonly created: boolean
    }

export type RolledBack =
  | {
      readonly success: false
      readonly reason: 'kv_precondition'
      /** Position in `results` of the operation that lost. */
      readonly failedIndex: number
      readonly kvReason: KvLoss
      /** What stands there now. */
      readonly value: Untyped
      readonly version: number
      readonly error: string
    }
  | { readonly success: false; readonly reason: 'lease_lost' | 'rejected_ack'; readonly error: string }
  | LockLost
  | {
      readonly success: false
      readonly reason: 'duplicate'
      /** True when the known message has another payload. */
      readonly conflict: boolean
      readonly messageId: string
      readonly error: string
    }
  | { readonly success: false; readonly reason: 'run_conflict'; readonly error: string }
  | { readonly success: false; readonly reason: 'queue_full' | 'too_large' | 'queue_not_found'; readonly error: string }

export type CommitResult =
  | {
      readonly success: true
      /** The id under which the outcome is remembered for 24 hours. */
      readonly transactionId: string
      /** Pushed items and acks in order, then key/value operations in order, then timers, then runs in order; guards are not among them. */
      readonly results: readonly StepOutcome[]
    }
  | RolledBack

function stepOutcome(operation: OutgoingOperation | undefined, result: StepResult): StepOutcome {
  if (result.type === 'push') {
    const { status, transactionId, messageId, offset } = result
    return { type: 'push', status: status === 'duplicate' ? 'duplicate' : 'queued', transactionId, messageId, offset }
  }
  return {
    type: 'ack',
    transactionId: operation?.type === 'ack' ? (operation.item.transactionId ?? '') : '',
    leaseReleased: result.leaseReleased,
    deadLettered: result.dlq,
    noop: result.noop,
  }
}

function rolledBack(answer: Extract<StepAnswer, { readonly success: false }> | LockLost): RolledBack {
  const { error, reason } = answer
  if (reason === 'lock_lost') return answer
  if (reason === 'kv_precondition') {
    const { failedIndex, kvReason } = answer
    const { value } = lostAlone('', kvReason, answer.value, answer.version)
    return { success: false, reason, failedIndex, kvReason, value, version: answer.version ?? 0, error }
  }
  if (reason === 'rejected_ack') return { success: false, reason: saysLeaseLost(error) ? 'lease_lost' : reason, error }
  if (reason === 'duplicate') {
    return { success: false, reason, conflict: answer.conflict, messageId: answer.messageId, error }
  }
  return { success: false, reason, error }
}

export function commitResult(
  transactionId: string,
  operations: readonly OutgoingOperation[],
  { kv, timers, runs }: Pick<OutgoingStep, 'kv' | 'timers' | 'runs'>,
  answer: StepAnswer | LockLost,
): CommitResult {
  if (!answer.success) return rolledBack(answer)
  const lengths = [answer.operations.length, answer.kv.length, answer.timers.length, answer.runs.length]
  if (lengths.join() !== [operations.length, kv.length, timers.length, runs.length].join()) {
    throw new LockstepError('internal', 'the answer to the transaction has another length than the request')
  }
  return {
    success: true,
    transactionId,
    results: [
      ...answer.operations.map((result, index) => stepOutcome(operations[index], result)),
      ...answer.kv.map((result) => ({ type: 'kv' as const, ...kvOutcome(result) })),
      ...answer.timers.map((result) => ({ type: 'timer' as const, ...timerOutcome(result) })),
      ...answer.runs.map(({ runId, created }) => ({ type: 'run' as const, runId, created })),
    ],
  }
}
