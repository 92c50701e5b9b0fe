// Decodes timer operations, for the timers route and for transactions. A payload comes as base64 of its JSON text (`payload`,
// as published clients send it) or as the JSON value itself (`data`); either way its text is carried unchanged. What only the
// server may say is refused, never ignored. Every fault has the wire's own shape: the code is the error, `reason` says the part.
import { boolean, integer, oneOf, optional, readFields } from './check.ts'
import type { Place } from './check.ts'
import { LockstepError } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { CUT, inArray, inObject, sliceJson } from './json-slices.ts'
import type { Piece, Shape } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { DEFAULT_PARTITION } from './message.ts'
import { mintId } from './mint-id.ts'
import { partitionName, requestIdText, timerKey, transactionIdText } from './names.ts'
import { pieceOf, recordOf } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { becauseOf, eitherOf, operationsBody } from './operations-body.ts'
import type { TimerOperation } from './timer.ts'
import { utf8Length } from './utf8.ts'

export interface TimerRequest {
  readonly requestId: string | null
  readonly operations: readonly TimerOperation[]
}

export const TIMER_SHAPE: Shape = inArray(inObject({ data: CUT }))

export const timerFault = (reason: string, detail: string, code: ErrorCode = 'timers_bad_request'): LockstepError =>
  new LockstepError(code, detail, { reason })

const because = becauseOf(timerFault)

/** The queue of a timer has a name: the path of the read must be able to say it. */
const QUEUE = because('timers_bad_queue', partitionName)
const KEY = because('timers_bad_key', timerKey)
const TXN = because('timers_bad_txn', optional(transactionIdText, null))

export const TIMER_FIELDS = {
  op: because('timers_unknown_op', oneOf('schedule', 'reschedule', 'cancel')),
  schedule: {
    queue: QUEUE,
    timerKey: KEY,
    partition: because('timers_bad_partition', optional(partitionName, DEFAULT_PARTITION)),
    delayMs: because('timers_bad_delay', integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)),
    txn: TXN,
    payloadZstd: because('timers_bad_payload', optional(boolean, false)),
  },
  cancel: { queue: QUEUE, timerKey: KEY, txn: TXN },
} as const

export const TIMER_REQUEST_ID = { requestId: because('timers_bad_request_id', optional(requestIdText, null)) } as const

const SHAPE = eitherOf(TIMER_SHAPE)

export function decodeTimers(body: RequestBody, producerSub: string | null): TimerRequest {
  const { requestId, elements, pieces, place } = operationsBody(
    body,
    SHAPE,
    TIMER_REQUEST_ID,
    timerFault,
    'timers_bad_body',
  )
  return { requestId, operations: timerOperations(elements, pieces, producerSub, place) }
}

export function timerOperations(
  elements: readonly unknown[],
  pieces: readonly Piece[],
  producerSub: string | null,
  place: Place,
): readonly TimerOperation[] {
  if (elements.length > LIMITS.timerOperations) {
    throw timerFault('timers_too_many_ops', `at most ${LIMITS.timerOperations} timer operations in one call`)
  }
  const at: Place = { parent: place, step: 0 }
  return elements.map((element, index) => {
    at.step = index
    return timerOperation(element, pieces, producerSub, at)
  })
}

const SERVER_OWNED: ReadonlySet<string> = new Set(['producerSub', 'messageId', 'tenant', 'deliverAt', 'attempts'])

function timerOperation(
  element: unknown,
  pieces: readonly Piece[],
  producerSub: string | null,
  at: Place,
): TimerOperation {
  let source: Readonly<Record<string, unknown>>
  try {
    source = recordOf(element, at)
  } catch {
    throw timerFault('timers_bad_op', 'an operation must be an object')
  }
  for (const name of Object.keys(source)) {
    if (SERVER_OWNED.has(name) || name.startsWith('_')) {
      throw timerFault(
        'timers_server_field',
        `${name.slice(0, 64)} is the server's to say, not a field of an operation`,
      )
    }
  }
  const op = TIMER_FIELDS.op.read(source['op'], at, 'op')
  if (op === 'cancel') {
    const { queue, timerKey: key, txn } = readFields(TIMER_FIELDS.cancel, source, at)
    return { op, queue, key, transactionId: txn }
  }
  const { queue, timerKey: key, partition, delayMs, txn, payloadZstd } = readFields(TIMER_FIELDS.schedule, source, at)
  if (payloadZstd) throw timerFault('timers_bad_payload', 'payloadZstd is not served: send the payload uncompressed')
  const payload = payloadText(source, pieceOf(pieces, source, 'data'))
  return {
    op: 'schedule',
    queue,
    key,
    partition,
    delayMs: checkDelay(delayMs),
    transactionId: txn,
    payload,
    producerSub,
    messageId: mintId(),
  }
}

/** What is due already fires at once; what is too far away is refused. */
export function checkDelay(delayMs: number): number {
  if (delayMs > LIMITS.timerHorizonMs) {
    const days = LIMITS.timerHorizonMs / 86_400_000
    const told = `delayMs must be at most ${LIMITS.timerHorizonMs} (${days} days)`
    throw timerFault('timers_horizon', told, 'timer_horizon_exceeded')
  }
  return Math.max(0, delayMs)
}

function payloadText(source: Readonly<Record<string, unknown>>, data: Piece | null): string {
  const encoded = Object.hasOwn(source, 'payload') ? source['payload'] : undefined
  if ((encoded === undefined) === (data === null)) {
    throw timerFault('timers_bad_payload', 'exactly one of payload (base64 of JSON text) and data (JSON) must be given')
  }
  const piece = data ?? decoded(encoded)
  if (piece.fault !== null) throw timerFault('timers_bad_payload', `the payload must be ${piece.fault}`)
  checkPayloadSize(piece.text)
  return piece.text
}

export function checkPayloadSize(payload: string): void {
  if (payload.length * 3 > LIMITS.timerPayloadBytes && utf8Length(payload) > LIMITS.timerPayloadBytes) {
    const told = `the payload of a timer must be at most ${LIMITS.timerPayloadBytes} bytes`
    throw timerFault('timers_payload_too_large', told, 'payload_too_large')
  }
}

function decoded(encoded: unknown): Piece {
  const right = 'base64 of JSON text in UTF-8'
  if (typeof encoded !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) {
    return { text: '', fault: right }
  }
  // Four characters are three bytes.
  if (encoded.length > (LIMITS.timerPayloadBytes / 3 + 1) * 4) checkPayloadSize(encoded)
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return sliceJson(text, CUT).pieces[0] ?? { text: '', fault: right }
  } catch {
    return { text: '', fault: right }
  }
}
