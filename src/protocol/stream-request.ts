// Decodes the three calls of streams. Their bodies are snake_case on the wire. State values and payloads are cut out and
// carried as text; only `windowEnd` is read off a value, so that ripe windows can be found without looking into any.
import { boolean, integer, isRecord, list, optional, oneOf, readFields, refuse, text } from './check.ts'
import type { Field, Place } from './check.ts'
import { CUT, inArray, inObject } from './json-slices.ts'
import type { Piece } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { DEFAULT_PARTITION } from './message.ts'
import type { PushItem } from './message.ts'
import { mintId } from './mint-id.ts'
import { groupName, leaseIdText, partitionName, queueName, requestIdText, transactionIdText } from './names.ts'
import { payloadFault } from './push-request.ts'
import { arrayOf, bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import type { StateChange, StateQuery, StreamAck, StreamCycle, StreamRegistration } from './stream.ts'
import { utf8Length } from './utf8.ts'

const stateKey = text({ min: 1, max: LIMITS.streamStateKeyBytes })

/** As it was answered: decimal text; a number is as good. */
export const queryId: Field<number> = {
  type: 'the query_id of a registration',
  optional: false,
  read(value, place, name) {
    const id = typeof value === 'string' && /^[0-9]{1,10}$/.test(value) ? Number(value) : value
    if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0 || id > 2_147_483_647) {
      refuse(place, name, 'the query_id of a registration')
    }
    return id
  },
}

const instantMs: Field<number> = {
  type: 'epoch milliseconds',
  optional: false,
  read(value, place, name) {
    if (typeof value !== 'number' || !Number.isFinite(value)) refuse(place, name, 'epoch milliseconds')
    return value
  },
}

export const REGISTER_BODY = {
  name: text({ min: 1, max: LIMITS.nameBytes, longCode: 'name_too_long' }),
  source_queue: queueName,
  sink_queue: optional(queueName, null),
  config_hash: text({ min: 1, max: LIMITS.streamHashBytes }),
  reset: optional(boolean, false),
} as const

export function decodeRegistration(body: RequestBody): StreamRegistration {
  const place = bodyPlace()
  const read = readFields(REGISTER_BODY, recordOf(sliced(body, {}).envelope, place), place)
  return {
    name: read.name,
    sourceQueue: read.source_queue,
    sinkQueue: read.sink_queue,
    configHash: read.config_hash,
    reset: read.reset,
  }
}

export const STATE_BODY = {
  query_id: queryId,
  partition_id: text({ min: 1, max: 32 }),
  keys: optional(list(LIMITS.streamStateOps, stateKey), []),
  key_prefix: optional(text({ max: LIMITS.streamStateKeyBytes }), null),
  ripe_at_or_before: optional(instantMs, null),
  limit: optional(integer(1, LIMITS.streamStateOps), null),
} as const

export function decodeStateQuery(body: RequestBody): StateQuery {
  const place = bodyPlace()
  const read = readFields(STATE_BODY, recordOf(sliced(body, {}).envelope, place), place)
  return {
    queryId: read.query_id,
    partitionId: read.partition_id,
    keys: read.keys,
    prefix: read.key_prefix,
    ripeAt: read.ripe_at_or_before,
    limit: read.limit,
  }
}

export const CYCLE_BODY = {
  requestId: optional(requestIdText, null),
  query_id: queryId,
  partition_id: text({ min: 1, max: 32 }),
  consumer_group: optional(groupName, null),
  release_lease: optional(boolean, true),
} as const
export const STREAM_STATE_OP = { type: oneOf('upsert', 'delete'), key: stateKey } as const
export const STREAM_PUSH = {
  queue: queueName,
  partition: optional(partitionName, DEFAULT_PARTITION),
  transactionId: optional(transactionIdText, null),
} as const
export const STREAM_ACK = {
  leaseId: leaseIdText,
  status: optional(oneOf('completed', 'success', 'acked', 'ok', 'failed', 'retry'), 'completed'),
} as const

const SHAPE = inObject({
  state_ops: inArray(inObject({ value: CUT })),
  push_items: inArray(inObject({ payload: CUT, data: CUT })),
})

export interface DecodedCycle {
  readonly requestId: string | null
  readonly cycle: StreamCycle
}

export function decodeCycle(body: RequestBody, producerSub: string | null): DecodedCycle {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, SHAPE)
  const request = recordOf(envelope, place)
  const read = readFields(CYCLE_BODY, request, place)
  const cycle = {
    queryId: read.query_id,
    partitionId: read.partition_id,
    group: read.consumer_group,
    state: changes(request, pieces, place),
    pushes: pushes(request, pieces, producerSub, place),
    ack: ackOf(request, place, read.release_lease),
    releaseLease: read.release_lease,
  }
  return { requestId: read.requestId, cycle }
}

/** Of several changes of one key the last stands. */
function changes(
  request: Readonly<Record<string, unknown>>,
  pieces: readonly Piece[],
  place: Place,
): readonly StateChange[] {
  const last = new Map<string, StateChange>()
  const at: Place = { parent: { parent: place, step: 'state_ops' }, step: 0 }
  for (const [index, element] of arrayOf(request, 'state_ops', place, LIMITS.streamStateOps).entries()) {
    at.step = index
    const source = recordOf(element, at)
    const { type, key } = readFields(STREAM_STATE_OP, source, at)
    if (type === 'delete') {
      last.set(key, { key, value: null, windowEnd: null })
      continue
    }
    const piece = pieceOf(pieces, source, 'value')
    if (piece === null) refuse(at, 'value', 'present: any JSON value')
    if (piece.fault !== null) refuse(at, 'value', piece.fault)
    const bytes = utf8Length(piece.text)
    if (bytes > LIMITS.streamStateValueBytes) {
      refuse(at, 'value', `at most ${LIMITS.streamStateValueBytes} bytes`, 'payload_too_large')
    }
    last.set(key, { key, value: piece.text, windowEnd: windowEndOf(piece.text) })
  }
  return [...last.values()]
}

function windowEndOf(value: string): number | null {
  if (!value.includes('windowEnd')) return null
  const parsed: unknown = JSON.parse(value)
  const end = isRecord(parsed) && Object.hasOwn(parsed, 'windowEnd') ? parsed['windowEnd'] : null
  return typeof end === 'number' && Number.isFinite(end) ? end : null
}

function pushes(
  request: Readonly<Record<string, unknown>>,
  pieces: readonly Piece[],
  producerSub: string | null,
  place: Place,
): readonly PushItem[] {
  const at: Place = { parent: { parent: place, step: 'push_items' }, step: 0 }
  return arrayOf(request, 'push_items', place, LIMITS.transactionOperations).map((element, index) => {
    at.step = index
    const source = recordOf(element, at)
    const { queue, partition, transactionId } = readFields(STREAM_PUSH, source, at)
    const payload = pieceOf(pieces, source, 'payload') ?? pieceOf(pieces, source, 'data')
    if (payload === null) refuse(at, 'payload', 'present: any JSON value')
    const fault = payloadFault(payload)
    if (fault !== null) refuse(at, 'payload', fault)
    return { queue, partition, transactionId, payload: payload.text, traceId: null, producerSub, messageId: mintId() }
  })
}

function ackOf(request: Readonly<Record<string, unknown>>, place: Place, releaseLease: boolean): StreamAck | null {
  const source = Object.hasOwn(request, 'ack') ? request['ack'] : null
  if (source === null || source === undefined) return null
  const at: Place = { parent: place, step: 'ack' }
  const record = recordOf(source, at)
  const { leaseId, status } = readFields(STREAM_ACK, record, at)
  const count = Object.hasOwn(record, 'count') ? record['count'] : null
  const counts = typeof count === 'number' && Number.isSafeInteger(count) && count >= 1 && count <= LIMITS.popBatch
  const retry = status === 'failed' || status === 'retry'
  if (!counts && !releaseLease && !retry) refuse(at, 'count', `an integer from 1 to ${LIMITS.popBatch}`)
  return { leaseId, status: retry ? 'retry' : 'completed', count: counts ? count : 1 }
}
