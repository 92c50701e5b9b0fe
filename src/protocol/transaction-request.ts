// Decodes a transaction: pushes and acks in one flat order, then kv, then timers. Its items are judged as one, so the first fault refuses
// the request. An ack without a lease of its own takes the one that the request names, if it names exactly one.
import { list, oneOf, optional, readFields, refuse } from './check.ts'
import type { Place } from './check.ts'
import { LockstepError } from './errors.ts'
import { ackItem } from './ack-request.ts'
import { CUT, inArray, inObject } from './json-slices.ts'
import type { Piece } from './json-slices.ts'
import { KV_IN_TRANSACTION, KV_SHAPE, kvOperations } from './kv-request.ts'
import type { KvOperation } from './kv.ts'
import { LIMITS } from './limits.ts'
import { QUEUE_MODE } from './message.ts'
import { groupName, leaseIdText, requestIdText } from './names.ts'
import { payloadFault, pushItem } from './push-request.ts'
import { arrayOf, bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { runOf } from './run-request.ts'
import type { OutgoingRun } from './run.ts'
import { TIMER_SHAPE, timerOperations } from './timer-request.ts'
import type { TimerOperation } from './timer.ts'
import type { StepOperation } from './transaction.ts'

export interface DecodedTransaction {
  readonly requestId: string | null
  readonly operations: readonly StepOperation[]
  readonly kv: readonly KvOperation[]
  readonly timers: readonly TimerOperation[]
  /** Submitted in the same commit. */
  readonly runs: readonly OutgoingRun[]
  /** Of `requiredLeases` those that no ack carries: each must be live at the commit. */
  readonly demandedLeases: readonly string[]
}

export const TRANSACTION_BODY = {
  requestId: optional(requestIdText, null),
  requiredLeases: optional(list(LIMITS.ackItems, leaseIdText), []),
} as const

const OPERATION = { type: oneOf('push', 'ack') } as const
export const ACK_GROUP = { consumerGroup: optional(groupName, QUEUE_MODE) } as const

const ITEM = { payload: CUT, data: CUT }
const SHAPE = inObject({
  operations: inArray(inObject({ ...ITEM, items: inArray(inObject(ITEM)) })),
  kv: KV_SHAPE,
  timers: TIMER_SHAPE,
  runs: inArray(inObject({ input: CUT })),
})

const ABSENT_PAYLOAD: Piece = { text: '{}', fault: null }

export function decodeTransaction(body: RequestBody, producerSub: string | null): DecodedTransaction {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, SHAPE)
  const request = recordOf(envelope, place)
  const { requestId, requiredLeases } = readFields(TRANSACTION_BODY, request, place)
  const listed = arrayOf(request, 'operations', place, LIMITS.transactionOperations)
  const kvListed = arrayOf(request, 'kv', place, Number.MAX_SAFE_INTEGER)
  const timersListed = arrayOf(request, 'timers', place, Number.MAX_SAFE_INTEGER)
  refuseUnserved(request, place)
  const runsListed = arrayOf(request, 'runs', place, LIMITS.runsPerCall)
  if (listed.length + kvListed.length + timersListed.length + runsListed.length === 0) {
    refuse(place, 'operations', 'not empty, unless kv, timers or runs are given')
  }

  const operations: StepOperation[] = []
  const at: Place = { parent: { parent: place, step: 'operations' }, step: 0 }
  for (const [index, element] of listed.entries()) {
    at.step = index
    const source = recordOf(element, at)
    const { type } = readFields(OPERATION, source, at)
    if (type === 'push') pushes(source, pieces, producerSub, at, operations)
    else operations.push(ack(source, at))
  }
  if (operations.length > LIMITS.transactionOperations) {
    refuse(place, 'operations', `at most ${LIMITS.transactionOperations} pushed items and acks`)
  }
  const kv = kvOperations(kvListed, pieces, KV_IN_TRANSACTION, { parent: place, step: 'kv' })
  const timers = timerOperations(timersListed, pieces, producerSub, { parent: place, step: 'timers' })
  const runAt: Place = { parent: { parent: place, step: 'runs' }, step: 0 }
  const runs = runsListed.map((element, index) => {
    runAt.step = index
    return runOf(recordOf(element, runAt), pieces, runAt)
  })
  const fenced = leased(operations, requiredLeases)
  return { requestId, operations: fenced, kv, timers, runs, demandedLeases: demanded(fenced, requiredLeases) }
}

function refuseUnserved(request: Readonly<Record<string, unknown>>, place: Place): void {
  if (arrayOf(request, 'positions', place, LIMITS.transactionOperations).length > 0) {
    const told = 'positions in a transaction are not served by this build'
    throw new LockstepError('not_available', told, { field: 'positions' })
  }
}

function pushes(
  source: Readonly<Record<string, unknown>>,
  pieces: readonly Piece[],
  producerSub: string | null,
  at: Place,
  into: StepOperation[],
): void {
  if (!Object.hasOwn(source, 'items')) {
    into.push(push(source, pieces, producerSub, at))
    return
  }
  const items = arrayOf(source, 'items', at, LIMITS.transactionOperations)
  const itemAt: Place = { parent: { parent: at, step: 'items' }, step: 0 }
  for (const [index, element] of items.entries()) {
    itemAt.step = index
    into.push(push(recordOf(element, itemAt), pieces, producerSub, itemAt))
  }
}

/** `data` is an alias here and a missing payload is `{}`: the wire says so for transactions only. */
function push(
  source: Readonly<Record<string, unknown>>,
  pieces: readonly Piece[],
  producerSub: string | null,
  at: Place,
): StepOperation {
  const piece = pieceOf(pieces, source, 'payload') ?? pieceOf(pieces, source, 'data') ?? ABSENT_PAYLOAD
  const fault = payloadFault(piece)
  if (fault !== null) refuse(at, 'payload', fault)
  return { type: 'push', item: pushItem(source, piece.text, producerSub, at) }
}

function ack(source: Readonly<Record<string, unknown>>, at: Place): StepOperation {
  const { consumerGroup } = readFields(ACK_GROUP, source, at)
  const read = ackItem(source, consumerGroup, at)
  if (read.fault === null) return { type: 'ack', item: read.item }
  if (read.fault === 'unknown status') refuse(at, 'status', 'one of completed, failed, retry, dlq')
  refuse(at, 'partitionId', 'the id of a partition, as delivered with its messages')
}

/** The single lease that `requiredLeases` and the acks agree on goes to the acks that name none. */
function leased(operations: readonly StepOperation[], requiredLeases: readonly string[]): readonly StepOperation[] {
  const named = new Set(requiredLeases.filter((lease) => lease !== ''))
  for (const { type, item } of operations) {
    if (type === 'ack' && item.leaseId !== null) named.add(item.leaseId)
  }
  const [only] = named
  if (only === undefined || named.size > 1) return operations
  return operations.map((operation) =>
    operation.type === 'ack' && operation.item.leaseId === null
      ? { type: 'ack', item: { ...operation.item, leaseId: only } }
      : operation,
  )
}

/** The fence of an ack that carries a lease judges it already. */
function demanded(operations: readonly StepOperation[], requiredLeases: readonly string[]): readonly string[] {
  const left = new Set(requiredLeases.filter((lease) => lease !== ''))
  for (const { type, item } of operations) if (type === 'ack' && item.leaseId !== null) left.delete(item.leaseId)
  return [...left]
}
