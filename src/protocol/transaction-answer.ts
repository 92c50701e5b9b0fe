// Reads the JSON text that the database answers to one step. Its shape is written by our own SQL functions; values in it are
// JSON strings of the value's text, so parsing it cannot change one.
import { LockstepError } from './errors.ts'
import { readKvAnswer } from './kv-answer.ts'
import type { KvLoss } from './kv.ts'
import type { TimerResult, TimerStatus } from './timer.ts'
import type { StepOperation, StepResult, TransactionRequest, TransactionResult } from './transaction.ts'

type Done =
  | readonly [pos: number, kind: 'push', status: string, messageId: string, offset: number | null]
  | readonly [pos: number, kind: 'ack', released: boolean, dlq: boolean, noop: boolean]

type Timed = readonly [pos: number, ...result: TimerResultText]
type TimerResultText = readonly [
  status: TimerStatus,
  transactionId: string | null,
  messageId: string | null,
  deliverAt: string | null,
]

type AnswerText =
  | { readonly deferred: true }
  | {
      readonly success: true
      readonly kv: object | null
      readonly operations: readonly Done[]
      readonly timers: readonly Timed[]
    }
  | { readonly success: false; readonly reason: 'request_conflict' }
  | { readonly success: false; readonly reason: 'kv_precondition'; readonly verdict: KvVerdict }
  | { readonly success: false; readonly reason: 'rejected_ack'; readonly failedIndex: number; readonly error: string }
  | {
      readonly success: false
      readonly reason: 'duplicate' | 'queue_full'
      readonly failedIndex: number
      readonly messageId: string | null
      readonly conflict: boolean
    }

interface KvVerdict {
  readonly failedIndex: number
  readonly kvReason: KvLoss
  readonly value: string | null
  readonly version: number | null
}

/** `replayed`: the answer was recorded by an earlier commit of the same request id. */
export function readTransactionAnswer(
  text: string,
  request: TransactionRequest,
  replayed: boolean,
): TransactionResult | 'deferred' {
  // The text is written by our own SQL function; its shape is its own and tested with it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const answer = JSON.parse(text) as AnswerText
  if ('deferred' in answer) return 'deferred'
  if (answer.success) {
    const kv = readKvAnswer(answer.kv === null ? null : JSON.stringify(answer.kv), request.kv)
    const done = new Map(answer.operations.map((entry) => [entry[0], entry]))
    return {
      success: true,
      operations: request.operations.map((operation, at) => stepResult(operation, done.get(at))),
      kv: kv.ok ? kv.results : [],
      timers: request.timers.map((_, at) => timerOutcome(answer.timers.find(([pos]) => pos === at))),
      replayed,
    }
  }
  switch (answer.reason) {
    case 'request_conflict':
      return {
        success: false,
        reason: answer.reason,
        error: 'this request id was used with another body within 24 hours',
      }
    case 'kv_precondition': {
      const { failedIndex, kvReason, value, version } = answer.verdict
      const error = `kv operation ${failedIndex} lost (${kvReason}): rolled back, nothing was written`
      const at = request.operations.length + failedIndex
      return { success: false, reason: answer.reason, failedIndex: at, kvReason, value, version, error }
    }
    case 'rejected_ack':
      return { ...answer, error: `${answer.error}: rolled back, nothing was written` }
    case 'duplicate': {
      const { failedIndex, conflict, messageId } = answer
      const error = `the transaction id is known${conflict ? ' with another payload' : ''}: rolled back, nothing was written`
      return { success: false, reason: 'duplicate', failedIndex, conflict, messageId: messageId ?? '', error }
    }
    case 'queue_full':
      return {
        success: false,
        reason: 'queue_full',
        failedIndex: answer.failedIndex,
        error: 'the queue holds its maxSize: rolled back, nothing was written',
      }
  }
}

function stepResult(operation: StepOperation, done: Done | undefined): StepResult {
  if (operation.type === 'push' && done?.[1] === 'push') {
    const [, , status, messageId, offset] = done
    return {
      type: 'push',
      status: status === 'duplicate' ? 'duplicate' : 'queued',
      messageId,
      // A minted one is the message's own id, also when an earlier call minted it.
      transactionId: operation.item.transactionId ?? messageId,
      offset,
      conflict: false,
      error: null,
    }
  }
  if (operation.type === 'ack' && done?.[1] === 'ack') {
    const [, , leaseReleased, dlq, noop] = done
    return { type: 'ack', success: true, error: null, leaseReleased, dlq, noop }
  }
  throw new LockstepError('internal', `the transaction answered nothing for a ${operation.type}`)
}

function timerOutcome(timed: Timed | undefined): TimerResult {
  if (timed === undefined) throw new LockstepError('internal', 'the transaction answered nothing for a timer')
  const [, status, transactionId, messageId, deliverAt] = timed
  return { status, transactionId, messageId, deliverAt }
}
