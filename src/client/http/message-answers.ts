// The answers of push, ack and extend, each aligned with its request.
import { boolean, integer, oneOf, optional } from '../../protocol/check.ts'
import type { AckResult, PushResult } from '../../protocol/message.ts'
import { fieldsIn, plainText, readAnswer, recordsIn } from './answer-reader.ts'

const PUSHED = {
  status: oneOf('queued', 'duplicate', 'error', 'failed', 'buffered'),
  message_id: plainText,
  transaction_id: plainText,
  offset: optional(integer(0, Number.MAX_SAFE_INTEGER), null),
  conflict: optional(boolean, false),
  error: optional(plainText, null),
} as const

const ACKED = {
  success: boolean,
  error: optional(plainText, null),
  leaseReleased: optional(boolean, false),
  dlq: optional(boolean, false),
  noop: optional(boolean, false),
  conflated: optional(integer(0, Number.MAX_SAFE_INTEGER), null),
} as const

const EXTENDED = { renewed: integer(0, Number.MAX_SAFE_INTEGER), newExpiresAt: optional(plainText, null) } as const

export function pushAnswer(body: string, items: number): readonly PushResult[] {
  return recordsIn(readAnswer(body, {}).envelope, items).map((source) => {
    const pushed = fieldsIn(PUSHED, source)
    const refused = pushed.status === 'error' || pushed.status === 'failed'
    return {
      status: refused ? 'error' : pushed.status === 'duplicate' ? 'duplicate' : 'queued',
      messageId: pushed.message_id,
      transactionId: pushed.transaction_id,
      offset: pushed.offset,
      conflict: pushed.conflict,
      error: refused ? (pushed.error ?? pushed.status) : null,
    }
  })
}

export function ackAnswer(body: string, items: number): readonly AckResult[] {
  return recordsIn(readAnswer(body, {}).envelope, items).map((source) => {
    const { conflated, ...acked } = fieldsIn(ACKED, source)
    return { ...acked, ...(conflated === null ? {} : { conflated }) }
  })
}

export function extendAnswer(body: string): { readonly renewed: number; readonly expiresAt: string | null } {
  const { renewed, newExpiresAt } = fieldsIn(EXTENDED, readAnswer(body, {}).envelope)
  return { renewed, expiresAt: newExpiresAt }
}
