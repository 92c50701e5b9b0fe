// Decodes acks, one or a batch. What is wrong with one item alone (an unknown status, an id that is no partition id, a reason
// that is too long or no Unicode) is that item's answer and not the request's: nothing is coerced, no neighbour pays.
import { integer, optional, readFields, refuse, text } from './check.ts'
import type { Place } from './check.ts'
import { LockstepError } from './errors.ts'
import { LIMITS } from './limits.ts'
import { QUEUE_MODE } from './message.ts'
import type { AckItem, AckStatus } from './message.ts'
import { mistyped } from './mistyped.ts'
import { errorText, groupName, leaseIdText, requestIdText, transactionIdText } from './names.ts'
import { arrayOf, bodyPlace, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'

export const ACK_ITEM = {
  transactionId: optional(transactionIdText, null),
  offset: optional(integer(0, Number.MAX_SAFE_INTEGER), null),
  partitionId: text({ max: LIMITS.nameBytes }),
  status: optional(text({ max: LIMITS.nameBytes }), 'completed'),
  error: optional(errorText, null),
  leaseId: optional(leaseIdText, null),
} as const

const { offset: OFFSET, ...TEXTS } = ACK_ITEM

export const ACK_BODY = {
  consumerGroup: optional(groupName, QUEUE_MODE),
  requestId: optional(requestIdText, null),
} as const

export interface AckRequest {
  readonly requestId: string | null
  readonly items: readonly AckItem[]
  /** By index in the request: why that item is not among `items`. */
  readonly refused: ReadonlyMap<number, string>
  /** The transaction ids as sent, for the answer; null where the item is named by offset. */
  readonly transactionIds: readonly (string | null)[]
}

const STATUSES: ReadonlyMap<string, AckStatus> = new Map([
  ['completed', 'completed'],
  ['failed', 'failed'],
  ['retry', 'retry'],
  ['dlq', 'dlq'],
])

export function decodeAck(body: RequestBody): AckRequest {
  const place = bodyPlace()
  const request = recordOf(sliced(body, {}).envelope, place)
  return collect(request, [request], place, place)
}

export function decodeAckBatch(body: RequestBody): AckRequest {
  const place = bodyPlace()
  const request = recordOf(sliced(body, {}).envelope, place)
  if (!Object.hasOwn(request, 'acknowledgments')) refuse(place, 'acknowledgments', 'an array')
  const elements = arrayOf(request, 'acknowledgments', place, LIMITS.ackItems)
  return collect(request, elements, place, { parent: { parent: place, step: 'acknowledgments' }, step: 0 })
}

function collect(
  request: Readonly<Record<string, unknown>>,
  elements: readonly unknown[],
  place: Place,
  at: Place,
): AckRequest {
  const { consumerGroup, requestId } = readFields(ACK_BODY, request, place)
  const items: AckItem[] = []
  const refused = new Map<number, string>()
  const transactionIds: (string | null)[] = []
  for (const [index, element] of elements.entries()) {
    if (at !== place) at.step = index
    const read = judgedAlone(recordOf(element, at), consumerGroup, at)
    transactionIds.push(read.transactionId)
    if (read.fault === null) items.push(read.item)
    else refused.set(index, read.fault)
  }
  return { requestId, items, refused, transactionIds }
}

export type ReadAck = { readonly transactionId: string | null } & (
  | { readonly fault: null; readonly item: AckItem }
  | { readonly fault: string }
)

/** A text that nothing stored can have is its item's fault; an item that names no message is the request's. */
function judgedAlone(source: Readonly<Record<string, unknown>>, group: string, place: Place): ReadAck {
  const own = (name: string): unknown => (Object.hasOwn(source, name) ? source[name] : null)
  const transactionId = own('transactionId')
  const offset = OFFSET.read(own('offset'), place, 'offset')
  const isNamed = typeof transactionId === 'string' || offset !== null
  if (!isNamed || mistyped(TEXTS, source)) return ackItem(source, group, place)
  try {
    return ackItem(source, group, place)
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error
    const isShort = typeof transactionId === 'string' && transactionId.length <= LIMITS.transactionIdBytes
    return { transactionId: isShort ? transactionId : null, fault: error.message.replace(/^bad body: /, '') }
  }
}

export function ackItem(source: Readonly<Record<string, unknown>>, group: string, place: Place): ReadAck {
  const { transactionId, offset, partitionId, status, error, leaseId } = readFields(ACK_ITEM, source, place)
  if (transactionId === null && offset === null) refuse(place, 'transactionId', 'text, or an offset in its place')
  const known = STATUSES.get(status) ?? STATUSES.get(status.toLowerCase())
  if (known === undefined) return { transactionId, fault: 'unknown status' }
  // Queue id and twelve digits of the partition's id.
  if (!/^[1-9][0-9]{12,21}$/.test(partitionId)) return { transactionId, fault: 'partitionId is not a partition id' }
  const lease = leaseId === '' ? null : leaseId
  return {
    transactionId,
    fault: null,
    item: { partitionId, transactionId, offset, status: known, error, leaseId: lease, group },
  }
}
