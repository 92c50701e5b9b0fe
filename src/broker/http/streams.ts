// The three calls of stream runners. A cycle that loses is an answer with 200 and success:false; the runner takes the batch
// again when its lease has lapsed.
import type { Executor } from '../../db/executor.ts'
import { registerStream } from '../../operations/register-stream.ts'
import { streamCycle } from '../../operations/stream-cycle.ts'
import { streamState } from '../../operations/stream-state.ts'
import type { StreamCycle, StreamCycleResult } from '../../protocol/stream.ts'
import {
  CYCLE_BODY,
  decodeCycle,
  decodeRegistration,
  decodeStateQuery,
  REGISTER_BODY,
  STATE_BODY,
  STREAM_ACK,
  STREAM_PUSH,
  STREAM_STATE_OP,
} from '../../protocol/stream-request.ts'
import { integer, optional } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { CARRIED, listed } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { noting, reading, writing } from './read-call.ts'
import { once, requestIdOf } from './request-once.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function register(call: Call): Promise<Answer> {
  const stream = decodeRegistration(bodyText(call.body))
  const { queryId, outcome } = await noting(call, (db) => registerStream(db, stream))
  if (outcome === 'mismatch') {
    const error = `config_hash mismatch: '${stream.name}' is registered with another configuration; register it with reset: true to drop its state, or under another name`
    return json(JSON.stringify({ success: false, error, code: 'stream_conflict', query_id: queryId }), 409)
  }
  return json(
    JSON.stringify({
      success: true,
      query_id: queryId,
      name: stream.name,
      config_hash: stream.configHash,
      fresh: outcome === 'fresh',
      reset: outcome === 'reset',
    }),
  )
}

async function state(call: Call): Promise<Answer> {
  const query = decodeStateQuery(bodyText(call.body))
  const rows = await reading(call, (db) => streamState(db, query))
  const encoded = rows.map(
    ({ key, value, updatedAt }) => `{"key":${JSON.stringify(key)},"value":${value},"updated_at":"${updatedAt}"}`,
  )
  return json(`{"success":true,"rows":[${encoded.join(',')}]}`)
}

async function cycle(call: Call): Promise<Answer> {
  const { requestId: ofBody, cycle: asked } = decodeCycle(bodyText(call.body), call.sub)
  const requestId = requestIdOf(call, ofBody)
  let answer: string
  if (requestId === null) answer = encodeCycle(asked, await writing(call, (db) => streamCycle(db, asked)))
  else answer = await once(call, requestId, (db) => remembered(db, asked))
  call.parts.traffic.pushed(asked.pushes)
  return json(answer)
}

async function remembered(db: Executor, asked: StreamCycle): Promise<{ answer: string; commit: boolean }> {
  const result = await streamCycle(db, asked)
  return { answer: encodeCycle(asked, result), commit: result.success }
}

function encodeCycle(asked: StreamCycle, result: StreamCycleResult): string {
  const place = { query_id: String(asked.queryId), partition_id: asked.partitionId }
  if (!result.success) {
    return JSON.stringify({ success: false, ...place, reason: result.reason, error: result.error })
  }
  return JSON.stringify({
    success: true,
    ...place,
    queueName: result.queue,
    state_ops_applied: asked.state.length,
    push_results: asked.pushes.map(({ queue, partition }, at) => ({
      queue,
      partition,
      status: result.pushes[at]?.status ?? 'queued',
      baseOffset: result.pushes[at]?.offset ?? null,
    })),
    ack_result:
      result.ack === null || asked.ack === null
        ? null
        : {
            success: true,
            count: asked.ack.count,
            lease_released: result.ack.leaseReleased,
            dlq: result.ack.dlq,
          },
  })
}

export const streamRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/streams/v1/queries',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about:
      'Registers a stream under its name. The same config_hash goes on with the state; another one is 409, or with reset drops the state.',
    body: REGISTER_BODY,
    answers: {
      200: '{"success":true,"query_id":"7","name":"…","config_hash":"…","fresh":true,"reset":false}',
      409: '{"success":false,"error":"config_hash mismatch: …","code":"stream_conflict","query_id":"7"}',
    },
    handle: register,
  },
  {
    method: 'POST',
    path: '/streams/v1/state/get',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: 'What a stream remembers of one partition, in byte order of the keys; the filters are joined by and.',
    body: STATE_BODY,
    answers: {
      200: '{"success":true,"rows":[{"key":"…","value":…,"updated_at":"…"}]}',
      413: 'The state asked for is larger than one answer: ask by keys or a prefix.',
    },
    handle: state,
  },
  {
    method: 'POST',
    path: '/streams/v1/cycle',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about:
      'One step of a stream in one commit: state, pushes, and the ack of its source. Without release_lease the ack takes count messages from the head and the lease stays for the rest.',
    body: [
      {
        at: '',
        fields: {
          ...CYCLE_BODY,
          state_ops: listed(true, LIMITS.streamStateOps),
          push_items: listed(true, LIMITS.transactionOperations),
        },
      },
      { at: 'state_ops[] with "type":"upsert"', fields: { ...STREAM_STATE_OP, value: CARRIED } },
      { at: 'state_ops[] with "type":"delete"', fields: STREAM_STATE_OP },
      { at: 'push_items[]', fields: { ...STREAM_PUSH, payload: CARRIED } },
      { at: 'ack', fields: { ...STREAM_ACK, count: optional(integer(1, LIMITS.popBatch), null) } },
    ],
    answers: {
      200: '{"success":true,"query_id":"7","partition_id":"…","queueName":"…","state_ops_applied":1,"push_results":[{"queue":"…","partition":"…","status":"queued","baseOffset":3}],"ack_result":{"success":true,"count":200,"lease_released":true,"dlq":false}} or {"success":false,"reason":"unknown_query|unknown_partition|rejected_ack|duplicate|queue_full","error":"…"}',
    },
    handle: cycle,
  },
]
