// Decodes a push. A missing or mistyped field refuses the request; a name that cannot be kept (too long, with NUL) or a payload
// that cannot be carried (too deep, too large, no UTF-8) refuses its own item and leaves the neighbours alone, unless nothing of
// the request is left to store.
import { optional, readFields, refuse } from './check.ts'
import type { Field, Place } from './check.ts'
import { LockstepError } from './errors.ts'
import { CUT, inArray, inObject } from './json-slices.ts'
import type { Piece } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { DEFAULT_PARTITION } from './message.ts'
import type { PushItem } from './message.ts'
import { mintId } from './mint-id.ts'
import { mistyped } from './mistyped.ts'
import { partitionName, queueName, requestIdText, traceIdText, transactionIdText } from './names.ts'
import { arrayOf, bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { utf8Length } from './utf8.ts'

export const PUSH_ITEM = {
  queue: queueName,
  partition: optional(partitionName, DEFAULT_PARTITION),
  transactionId: optional(transactionIdText, null),
  traceId: optional(traceIdText, null),
} as const

export const PUSH_BODY: { readonly requestId: Field<string | null> } = { requestId: optional(requestIdText, null) }

export interface PushRequest {
  readonly requestId: string | null
  /** What can be stored, in request order. */
  readonly items: readonly PushItem[]
  /** By index in the request: why that item is not among `items`. */
  readonly refused: ReadonlyMap<number, RefusedItem>
}

export interface RefusedItem {
  readonly queue: string
  readonly transactionId: string
  readonly error: string
}

const SHAPE = inObject({ items: inArray(inObject({ payload: CUT })) })

export function decodePush(body: RequestBody, producerSub: string | null): PushRequest {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, SHAPE)
  const request = recordOf(envelope, place)
  const { requestId } = readFields(PUSH_BODY, request, place)
  if (!Object.hasOwn(request, 'items')) refuse(place, 'items', 'an array')
  const elements = arrayOf(request, 'items', place, LIMITS.pushItems)
  const items: PushItem[] = []
  const refused = new Map<number, RefusedItem>()
  let first: LockstepError | null = null
  const at: Place = { parent: { parent: place, step: 'items' }, step: 0 }
  for (const [index, element] of elements.entries()) {
    at.step = index
    const source = recordOf(element, at)
    const payload = pieceOf(pieces, source, 'payload')
    if (payload === null) refuse(at, 'payload', 'present: any JSON value')
    try {
      const fault = payloadFault(payload)
      const item = pushItem(source, payload.text, producerSub, at)
      if (fault !== null) refuse(at, 'payload', fault)
      items.push(item)
    } catch (error) {
      if (!(error instanceof LockstepError) || mistyped(PUSH_ITEM, source)) throw error
      first ??= error
      refused.set(index, {
        queue: echo(source['queue'], LIMITS.nameBytes),
        transactionId: echo(source['transactionId'], LIMITS.transactionIdBytes) || mintId(),
        error: error.message.replace(/^bad body: /, ''),
      })
    }
  }
  if (first !== null && items.length === 0) throw first
  return { requestId, items, refused }
}

/** What was sent, unless it is longer than the answer should be. */
function echo(value: unknown, bytes: number): string {
  return typeof value === 'string' && value.length <= bytes ? value : ''
}

export function pushItem(
  source: Readonly<Record<string, unknown>>,
  payload: string,
  producerSub: string | null,
  place: Place,
): PushItem {
  const { queue, partition, transactionId, traceId } = readFields(PUSH_ITEM, source, place)
  return { queue, partition, transactionId, payload, traceId, producerSub, messageId: mintId() }
}

/** What a payload would have to be, or null when it can be carried. */
export function payloadFault({ text, fault }: Piece): string | null {
  if (fault !== null) return fault
  const long = text.length * 3 > LIMITS.payloadBytes && utf8Length(text) > LIMITS.payloadBytes
  return long ? `at most ${LIMITS.payloadBytes} bytes` : null
}
