// The routes of ephemeral queues. Contents are this broker's memory; only what is configured reaches the database. A pop
// answers 200 with an empty list, never 204, and the depth of an unknown queue is the family's only 404: clients read any
// other as a broker without these routes.
import { declareEphemeral } from '../../operations/declare-ephemeral.ts'
import { forgetEphemeral } from '../../operations/forget-ephemeral.ts'
import type { EphemeralDepth, EphemeralMessage } from '../../protocol/ephemeral.ts'
import {
  decodeEphemeralAck,
  decodeEphemeralConfigure,
  decodeEphemeralName,
  decodeEphemeralPop,
  decodeEphemeralPush,
  EPHEMERAL_ACK,
  EPHEMERAL_ACK_ITEM,
  EPHEMERAL_POP,
  EPHEMERAL_PUSH,
  ephemeralName,
} from '../../protocol/ephemeral-request.ts'
import { EPHEMERAL_OPTIONS } from '../../protocol/ephemeral-options.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { recordOf, sliced } from '../../protocol/request-body.ts'
import { root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { CARRIED, listed } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { noting, writing } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function configure(call: Call): Promise<Answer> {
  const { queue, options } = decodeEphemeralConfigure(bodyText(call.body))
  await writing(call, (db) => declareEphemeral(db, queue, JSON.stringify(options)))
  call.parts.ephemeral.configure(queue, options)
  return json(JSON.stringify({ queue, options }), 201)
}

async function push(call: Call): Promise<Answer> {
  const { queue, partition, payloads } = decodeEphemeralPush(bodyText(call.body))
  return json(`{"pushed":${await call.parts.ephemeral.push(queue, partition, payloads)}}`, 201)
}

async function pop(call: Call): Promise<Answer | null> {
  const wish = decodeEphemeralPop(readQuery(call.queryText))
  const gone = new AbortController()
  call.response.once('close', () => gone.abort())
  const messages = await call.parts.ephemeral.pop(wish, gone.signal)
  const encoded = messages.map(encodeMessage).join(',')
  const answer = json(`{"queue":${JSON.stringify(wish.queue)},"messages":[${encoded}]}`)
  const back = messages.map(({ id }) => ({ id, status: 'undelivered' }) as const)
  return { ...answer, undelivered: () => void call.parts.ephemeral.ack(wish.queue, wish.group, back) }
}

function encodeMessage({ id, partition, payload, attempts }: EphemeralMessage): string {
  return `{"id":"${id}","partition":${JSON.stringify(partition)},"payload":${payload},"attempts":${attempts}}`
}

function ack(call: Call): Answer {
  const { queue, group, acks } = decodeEphemeralAck(bodyText(call.body))
  return json(JSON.stringify({ results: call.parts.ephemeral.ack(queue, group, acks) }))
}

function reset(call: Call): Answer {
  const queue = decodeEphemeralName(recordOf(sliced(bodyText(call.body), {}).envelope, root()))
  return json(JSON.stringify({ queue, dropped: call.parts.ephemeral.reset(queue) }))
}

async function remove(call: Call): Promise<Answer> {
  const queue = decodeEphemeralName({ queue: call.params['queue'] })
  const declared = await noting(call, (db) => forgetEphemeral(db, queue))
  const held = call.parts.ephemeral.remove(queue)
  return json(JSON.stringify({ queue, deleted: held || declared, declared }))
}

async function list(call: Call): Promise<Answer> {
  return json(JSON.stringify({ queues: (await call.parts.ephemeral.list()).map(gauges) }))
}

async function depth(call: Call): Promise<Answer> {
  const queue = decodeEphemeralName({ queue: call.params['queue'] })
  const found = await call.parts.ephemeral.depth(queue)
  if (found === null) throw new LockstepError('ephemeral_queue_not_found', `no ephemeral queue is called '${queue}'`)
  const group = readQuery(call.queryText)['group']
  const groups = group === undefined ? found.groups : found.groups.filter((each) => each.group === group)
  return json(JSON.stringify(gauges({ ...found, groups })))
}

/** `length` and `depth` say the same: both words are in use. */
const gauges = (found: EphemeralDepth): object => ({ ...found, length: found.messages, depth: found.messages })

const PREFIX = '/api/v1/ephemeral'

export const ephemeralRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: `${PREFIX}/configure`,
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Declares an ephemeral queue: its options outlive the broker, its messages never do.',
    body: [
      { at: '', fields: { queue: ephemeralName } },
      { at: 'options', fields: EPHEMERAL_OPTIONS },
    ],
    answers: { 201: '{"queue":"…","options":{…}}', 400: '{"error":"…","code":"ephemeral_bad_request"}' },
    handle: configure,
  },
  {
    method: 'POST',
    path: `${PREFIX}/push`,
    access: 'write-only',
    rank: 'B',
    changes: true,
    about: 'Puts messages into this broker’s memory, all or none. The queue is made if there is none.',
    body: [
      { at: '', fields: { ...EPHEMERAL_PUSH, messages: listed(false, LIMITS.ephemeralItems) } },
      { at: 'messages[]', fields: { payload: CARRIED } },
    ],
    answers: {
      201: '{"pushed":2}',
      429: '{"error":"…","code":"queue_full"}: the bounds are reached and the policy is reject.',
      503: '{"error":"…","code":"ephemeral_full"}: the broker’s own bound is reached.',
    },
    handle: push,
  },
  {
    method: 'GET',
    path: `${PREFIX}/pop`,
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Takes messages, each under a lease of its own; an empty list when there are none in time.',
    query: EPHEMERAL_POP,
    answers: { 200: '{"queue":"…","messages":[{"id":"…","partition":"…","payload":…,"attempts":1}]}' },
    handle: pop,
  },
  {
    method: 'POST',
    path: `${PREFIX}/ack`,
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Settles messages by their ids. failed and retry bring a message again until its retries are used up.',
    body: [
      { at: '', fields: { ...EPHEMERAL_ACK, acks: listed(true, LIMITS.ackItems) } },
      { at: 'acks[]', fields: EPHEMERAL_ACK_ITEM },
    ],
    answers: { 200: '{"results":[{"id":"…","outcome":"acked|redelivered|stale|unknown"}]}' },
    handle: ack,
  },
  {
    method: 'POST',
    path: `${PREFIX}/reset`,
    access: 'admin',
    rank: 'B',
    changes: true,
    about: 'Drops every message, lease and cursor of an ephemeral queue; what is configured stays.',
    body: { queue: ephemeralName },
    answers: { 200: '{"queue":"…","dropped":2}' },
    handle: reset,
  },
  {
    method: 'DELETE',
    path: `${PREFIX}/queue/:queue`,
    access: 'admin',
    rank: 'B',
    changes: true,
    about: 'Deletes an ephemeral queue, contents and configuration.',
    answers: { 200: '{"queue":"…","deleted":true,"declared":false}' },
    handle: remove,
  },
  {
    method: 'GET',
    path: `${PREFIX}/queues`,
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'The ephemeral queues of this broker, with their gauges.',
    answers: {
      200: '{"queues":[{"queue":"…","declared":true,"messages":0,"length":0,"depth":0,"bytes":0,"partitions":0,"dropped":0,"groups":[{"group":"…","pending":0,"leased":0}],"options":{…}}]}',
    },
    handle: list,
  },
  {
    method: 'GET',
    path: `${PREFIX}/queues/:queue/depth`,
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'The gauges of one ephemeral queue, for one group if `group` names it.',
    answers: { 200: '{"queue":"…","messages":0,…}', 404: '{"error":"…","code":"ephemeral_queue_not_found"}' },
    handle: depth,
  },
]
