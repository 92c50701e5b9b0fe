// The verdict on a transaction: its results stand in one flat order, pushed items and acks first, then key/value operations,
// then timers, then runs.
import { boolean, integer, oneOf, optional } from '../../protocol/check.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import type { StepResult } from '../../protocol/transaction.ts'
import type { OutgoingOperation, OutgoingStep, StepAnswer } from '../transport.ts'
import {
  fieldsIn,
  plainText,
  readAnswer,
  recordIn,
  recordsIn,
  type Answer,
  type AnswerRecord,
} from './answer-reader.ts'
import { timerResultIn } from './timer-answers.ts'
import { KV_RESULT_SHAPE, kvResultIn, preconditionIn } from './kv-answer.ts'

const index = integer(0, Number.MAX_SAFE_INTEGER)

const VERDICT = { success: boolean } as const

const REASON = {
  reason: oneOf(
    'kv_precondition',
    'rejected_ack',
    'duplicate',
    'queue_full',
    'too_large',
    'queue_not_found',
    'run_conflict',
  ),
  error: optional(plainText, ''),
} as const
const AT = { failedIndex: optional(index, 0) } as const
const DUPLICATE = {
  failedIndex: optional(index, 0),
  messageId: optional(plainText, ''),
  conflict: optional(boolean, false),
} as const

const PUSHED = {
  transactionId: plainText,
  messageId: plainText,
  offset: optional(index, null),
  duplicate: optional(boolean, false),
} as const
const ACKED = {
  success: boolean,
  error: optional(plainText, null),
  leaseReleased: optional(boolean, false),
  dlq: optional(boolean, false),
  noop: optional(boolean, false),
} as const

const SUBMITTED = { runId: plainText, created: boolean } as const

const SHAPE = inObject({ value: CUT, results: inArray(KV_RESULT_SHAPE) })

function stepResult(source: AnswerRecord, operation: OutgoingOperation): StepResult {
  if (operation.type === 'ack') return { type: 'ack', ...fieldsIn(ACKED, source) }
  const { duplicate, ...pushed } = fieldsIn(PUSHED, source)
  return { type: 'push', ...pushed, status: duplicate ? 'duplicate' : 'queued', conflict: false, error: null }
}

function lost(answer: Answer, envelope: AnswerRecord): StepAnswer {
  const { reason, error } = fieldsIn(REASON, envelope)
  if (reason === 'kv_precondition') return { success: false, reason, error, ...preconditionIn(answer, envelope) }
  if (reason === 'duplicate') return { success: false, reason, error, ...fieldsIn(DUPLICATE, envelope) }
  return { success: false, reason, error, ...fieldsIn(AT, envelope) }
}

export function transactionAnswer(body: string, step: OutgoingStep): StepAnswer {
  const answer = readAnswer(body, SHAPE)
  const envelope = recordIn(answer.envelope)
  if (!fieldsIn(VERDICT, envelope).success) return lost(answer, envelope)
  const flat = step.operations.length
  const timed = flat + step.kv.length
  const submitted = timed + step.timers.length
  const results = recordsIn(envelope['results'], submitted + step.runs.length)
  return {
    success: true,
    operations: step.operations.map((operation, at) => stepResult(results[at] ?? {}, operation)),
    kv: step.kv.map((operation, at) => kvResultIn(answer, results[flat + at] ?? {}, operation)),
    timers: step.timers.map((_, at) => timerResultIn(results[timed + at] ?? {})),
    runs: step.runs.map((_, at) => ({ ...fieldsIn(SUBMITTED, results[submitted + at] ?? {}), differs: false })),
  }
}
