// POST /kv and the path forms. The status tells about the call, never about the verdict.
import { kv } from '../../operations/kv.ts'
import { encodeKv, kvResult } from '../../protocol/answers.ts'
import { CUT, inObject } from '../../protocol/json-slices.ts'
import { decodeKv, KV_REQUEST_ID, kvFault, KV_ROUTE, kvOperations } from '../../protocol/kv-request.ts'
import type { KvAnswer, KvOperation, KvResult } from '../../protocol/kv.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { recordOf, sliced } from '../../protocol/request-body.ts'
import { root } from '../../protocol/check.ts'
import type { Piece } from '../../protocol/json-slices.ts'
import { CARRIED, listed } from './body-parts.ts'
import { KV_PARTS, kvPathFields } from './kv-parts.ts'
import { bodyText } from './read-body.ts'
import { once, requestIdOf } from './request-once.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

function many(call: Call): Promise<Answer> {
  const { requestId: ofBody, operations } = decodeKv(bodyText(call.body))
  const requestId = requestIdOf(call, ofBody)
  if (requestId !== null) return manyOnce(call, requestId, operations)
  return call.parts.traffic.kv(operations).then((answer) => json(encodeKv(answer)))
}

async function manyOnce(call: Call, requestId: string, operations: readonly KvOperation[]): Promise<Answer> {
  const text = await once(call, requestId, async (db) => {
    const [answer] = await kv(db, [operations])
    return { answer: answer ? encodeKv(answer) : '{"results":[]}', commit: answer?.ok ?? false }
  })
  return json(text)
}

/** One operation named by the path: no query, and nothing in the body that the path says already. */
async function single(
  call: Call,
  op: string,
  source: Readonly<Record<string, unknown>>,
  pieces: readonly Piece[],
): Promise<KvResult> {
  if (call.queryText !== '') throw kvFault('kv_bad_query', 'this route takes no query parameters')
  for (const name of ['op', 'ns', 'key']) {
    if (Object.hasOwn(source, name)) throw kvFault('kv_bad_body', `${name} is said by the path`)
  }
  const element = { ...source, op, ns: call.params['ns'], key: call.params['key'] }
  const answer: KvAnswer = await call.parts.traffic.kv(kvOperations([element], pieces, KV_ROUTE, root()))
  const result = answer.ok ? answer.results[0] : undefined
  if (!result) throw kvFault('kv_bad_body', 'required belongs to calls of several operations')
  return result
}

async function read(call: Call): Promise<Answer> {
  const result = await single(call, 'get', {}, [])
  const answer = json(`{${kvResult(result)}}`)
  const version = result.op === 'get' && result.found ? result.row.version : null
  return version === null ? answer : { ...answer, headers: ['etag', `"${version}"`] }
}

const VALUE = inObject({ value: CUT })

async function write(call: Call): Promise<Answer> {
  const { envelope, pieces } = sliced(bodyText(call.body), VALUE)
  return json(`{${kvResult(await single(call, 'put', recordOf(envelope, root()), pieces))}}`)
}

async function remove(call: Call): Promise<Answer> {
  const body = call.body.length === 0 ? {} : recordOf(sliced(bodyText(call.body), {}).envelope, root())
  return json(`{${kvResult(await single(call, 'delete', body, []))}}`)
}

const PATH = '/api/v1/kv/:ns/*key'

export const kvRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/kv',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Up to ${LIMITS.kvOperations} operations on versioned state, judged at one instant and committed as one. The body is an array, or {"operations": […]}.`,
    body: [{ at: '', fields: { operations: listed(false, LIMITS.kvOperations), ...KV_REQUEST_ID } }, ...KV_PARTS],
    answers: {
      200: '{"results":[{"index":0,"op":"put","applied":true,"key":"…","value":…,"version":1}]} or {"ok":false,"reason":"kv_precondition","failedIndex":0,"kvReason":"version","version":2,"value":…}',
      400: '{"error":"kv_bad_request","reason":"kv_…","detail":"…"}',
      409: 'The request id was used with another body.',
      413: 'A value is too large.',
    },
    handle: many,
  },
  {
    method: 'GET',
    path: PATH,
    access: 'read-only',
    rank: 'C',
    changes: false,
    about: 'Reads one key; the ETag is its version.',
    answers: { 200: '{"op":"get","found":true,"key":"…","value":…,"version":1,"expiresAt":null,"updatedAt":"…"}' },
    handle: read,
  },
  {
    method: 'PUT',
    path: PATH,
    access: 'read-write',
    rank: 'C',
    changes: true,
    about: 'Writes one key.',
    body: { ...kvPathFields('put'), value: CARRIED },
    answers: { 200: '{"op":"put","applied":true,"key":"…","value":…,"version":1}' },
    handle: write,
  },
  {
    method: 'DELETE',
    path: PATH,
    access: 'read-write',
    rank: 'C',
    changes: true,
    about: 'Deletes one key.',
    body: kvPathFields('delete'),
    answers: { 200: '{"op":"delete","applied":true,"key":"…","value":null,"version":2}' },
    handle: remove,
  },
]
