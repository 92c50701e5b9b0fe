// Traces noted and read. Their reads are snake_case on the wire; data and payloads go out as the text they came in.
import { addTrace } from '../../operations/add-trace.ts'
import { messageTraces, namedTraces, traceNames } from '../../operations/list-traces.ts'
import { integerText, optional, readFields, root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { transactionIdText } from '../../protocol/names.ts'
import { TRACE_BODY, tracedPartition, traceName } from '../../protocol/trace-fields.ts'
import { decodeTrace } from '../../protocol/trace-request.ts'
import type { NamedTrace, Page, Trace } from '../../protocol/trace.ts'
import { bodyText } from './read-body.ts'
import { reading, writing } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const PAGE = {
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  offset: optional(integerText(0, 1_000_000_000), 0),
} as const

const pageOf = (call: Call): Page => readFields(PAGE, readQuery(call.queryText), root())

async function add(call: Call): Promise<Answer> {
  const trace = decodeTrace(bodyText(call.body))
  const traceId = await writing(call, (db) => addTrace(db, trace))
  return json(JSON.stringify({ success: true, traceId }), 201)
}

async function ofMessage(call: Call): Promise<Answer> {
  const partitionId = tracedPartition.read(call.params['partitionId'], root(), 'partitionId')
  const transactionId = transactionIdText.read(call.params['transactionId'], root(), 'transactionId')
  const { limit } = pageOf(call)
  const traces = await reading(call, (db) => messageTraces(db, partitionId, transactionId, limit))
  return json(`{"traces":[${traces.map((trace) => `{${encode(trace)}}`).join(',')}]}`)
}

async function ofName(call: Call): Promise<Answer> {
  const name = traceName.read(call.params['name'], root(), 'name')
  const page = pageOf(call)
  const { traces, total } = await reading(call, (db) => namedTraces(db, name, page))
  const listed = traces.map((trace) => `{${encode(trace)},${encodeMessage(trace)}}`)
  return json(`{"traces":[${listed.join(',')}],"total":${total},"pagination":${JSON.stringify(page)}}`)
}

async function names(call: Call): Promise<Answer> {
  const page = pageOf(call)
  const { names: found, total } = await reading(call, (db) => traceNames(db, page))
  return json(
    JSON.stringify({
      trace_names: found.map((each) => ({
        trace_name: each.name,
        trace_count: each.traces,
        message_count: each.messages,
        last_seen: each.lastSeen,
      })),
      total,
      pagination: page,
    }),
  )
}

function encode({ id, eventType, data, group, workerId, createdAt, names: noted }: Trace): string {
  const rest = { consumer_group: group, worker_id: workerId, created_at: createdAt, trace_names: noted }
  return `"id":"${id}","event_type":${JSON.stringify(eventType)},"data":${data},${JSON.stringify(rest).slice(1, -1)}`
}

function encodeMessage({ transactionId, partitionId, queue, partition, payload }: NamedTrace): string {
  const address = {
    transaction_id: transactionId,
    partition_id: partitionId,
    queue_name: queue,
    partition_name: partition,
  }
  return `${JSON.stringify(address).slice(1, -1)},"message_payload":${payload ?? 'null'}`
}

const PATH = '/api/v1/traces'

const read = (path: string, about: string, answer: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path,
  access: 'read-only',
  rank: 'B',
  changes: false,
  about,
  query: PAGE,
  answers: { 200: answer },
  handle,
})

export const traceRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: PATH,
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: 'Notes an event of a message’s way, kept for a week. The message is not looked for.',
    body: { ...TRACE_BODY },
    answers: { 201: '{"success":true,"traceId":"…"}', 400: 'A field is missing or out of range.' },
    handle: add,
  },
  read(
    `${PATH}/names`,
    'The names that traces were noted under, the most recently used first.',
    '{"trace_names":[{"trace_name":"…","trace_count":2,"message_count":1,"last_seen":"…"}],"total":1,"pagination":{"limit":100,"offset":0}}',
    names,
  ),
  read(
    `${PATH}/by-name/:name`,
    'The traces under a name, the newest first, with their messages where they are still kept.',
    '{"traces":[{"id":"…","event_type":"info","data":…,"consumer_group":null,"worker_id":null,"created_at":"…","trace_names":["…"],"transaction_id":"…","partition_id":"…","queue_name":"…","partition_name":"…","message_payload":…}],"total":1,"pagination":{"limit":100,"offset":0}}',
    ofName,
  ),
  read(
    `${PATH}/:partitionId/:transactionId`,
    'The traces of one message, the newest first.',
    '{"traces":[{"id":"…","event_type":"info","data":…,"consumer_group":null,"worker_id":null,"created_at":"…","trace_names":["…"]}]}',
    ofMessage,
  ),
]
