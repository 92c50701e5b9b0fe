// The answers of the timers routes, and of timers inside a commit.
import { boolean, integer, oneOf, optional } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { ReadTimer, ShownTimer, TimerResult } from '../../protocol/timer.ts'
import { fieldsIn, plainText, readAnswer, recordIn, recordsIn, type AnswerRecord } from './answer-reader.ts'

const RESULT = {
  status: oneOf('scheduled', 'rescheduled', 'cancelled', 'absent'),
  txn: optional(plainText, null),
  messageId: optional(plainText, null),
  deliverAt: optional(plainText, null),
} as const

const TIMER = {
  timerKey: plainText,
  partition: plainText,
  deliverAt: plainText,
  txn: plainText,
  messageId: plainText,
  producerSub: optional(plainText, null),
  attempts: integer(0, Number.MAX_SAFE_INTEGER),
  lastError: optional(plainText, null),
  createdAt: plainText,
  updatedAt: plainText,
  // Brokers of others may not tell.
  encrypted: optional(boolean, false),
} as const
const FOUND = { found: boolean } as const
const PAYLOAD = { payload: optional(plainText, null) } as const
const PAGE = { truncated: boolean } as const

export function timerResultIn(source: AnswerRecord): TimerResult {
  const { status, txn, messageId, deliverAt } = fieldsIn(RESULT, source)
  return { status, transactionId: txn, messageId, deliverAt }
}

export function timersAnswer(body: string, operations: number): readonly TimerResult[] {
  return recordsIn(recordIn(readAnswer(body, {}).envelope)['results'], operations).map(timerResultIn)
}

function timerIn(source: AnswerRecord): ShownTimer {
  const { timerKey, txn, ...timer } = fieldsIn(TIMER, source)
  return { ...timer, key: timerKey, transactionId: txn }
}

export function timerAnswer(body: string): ReadTimer | null {
  const envelope = recordIn(readAnswer(body, {}).envelope)
  if (!fieldsIn(FOUND, envelope).found) return null
  const { payload } = fieldsIn(PAYLOAD, envelope)
  return { ...timerIn(envelope), payload: payload === null ? null : unpacked(payload) }
}

function unpacked(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw new LockstepError('internal', 'the broker answered a payload that is no base64', {}, error)
  }
}

export function timerPageAnswer(body: string): { readonly timers: readonly ShownTimer[]; readonly truncated: boolean } {
  const envelope = recordIn(readAnswer(body, {}).envelope)
  return { timers: recordsIn(envelope['rows'], null).map(timerIn), ...fieldsIn(PAGE, envelope) }
}
