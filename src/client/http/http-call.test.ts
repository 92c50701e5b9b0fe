// The retry policy at work, against a server that answers by script: what reaches it, how often, and what the caller gets.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import { createAddresses } from './addresses.ts'
import { createToken } from './token.ts'
import { httpTransport } from '../transport-http.ts'
import type { Transport } from '../transport.ts'

type Reply = (request: { readonly path: string; readonly body: string }, response: ServerResponse) => void

interface Rig {
  readonly transport: Transport
  readonly requests: {
    readonly method: string
    readonly path: string
    readonly body: string
    readonly headers: IncomingMessage['headers']
  }[]
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Each request takes the next reply; the last one stays. */
async function serve(t: TestContext, replies: readonly Reply[], timeoutMs = 5_000): Promise<Rig> {
  const requests: Rig['requests'] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const seen = {
        method: request.method ?? '',
        path: request.url ?? '',
        body: Buffer.concat(chunks).toString(),
        headers: request.headers,
      }
      requests.push(seen)
      const reply = replies[Math.min(requests.length, replies.length) - 1]
      reply?.(seen, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const port = portOf(server)
  const settings = {
    addresses: createAddresses([`http://127.0.0.1:${port}`]),
    headers: {},
    token: createToken('x'),
    timeoutMs,
  }
  return { transport: httpTransport(settings), requests }
}

const answer =
  (status: number, body: string, headers: Record<string, string> = {}): Reply =>
  (_, response) => {
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(status === 204 ? undefined : body)
  }
const cut: Reply = (_, response) => response.destroy()
const silence: Reply = () => {}

const item = { queue: 'q', partition: 'p', transactionId: 't', payload: '{"n":9007199254740993}', traceId: null }
const stored = '[{"index":0,"message_id":"m","transaction_id":"t","queueName":"q","status":"queued","offset":0}]'
const put = { op: 'put', ns: 'o', key: 'k', value: '1', ttlSeconds: 60, expect: null, required: false } as const
const get = { op: 'get', ns: 'o', key: 'k' } as const
const signal = new AbortController().signal
const popCall = {
  queue: 'a/b',
  partition: 'ü',
  group: 'g',
  batch: 1,
  partitions: 1,
  wait: false,
  timeoutMs: 0,
  leaseSeconds: null,
  start: null,
  conflation: false,
  onConflict: () => {},
}

test('a push whose answer is lost is sent again as it was, and stored once by its transaction id', async (t) => {
  const { transport, requests } = await serve(t, [cut, answer(201, stored)])
  const [result] = await transport.push([item])
  assert.equal(result?.status, 'queued')
  assert.equal(requests.length, 2)
  assert.equal(requests[0]?.body, requests[1]?.body)
  assert.equal(
    requests[0]?.body,
    '{"items":[{"queue":"q","partition":"p","transactionId":"t","payload":{"n":9007199254740993}}]}',
  )
  assert.equal(requests[0]?.headers.authorization, 'Bearer x')
})

test('a commit is repeated with the same request id', async (t) => {
  const { transport, requests } = await serve(t, [
    answer(500, '{"error":"x","code":"internal"}'),
    answer(
      200,
      '{"transactionId":"x","success":true,"results":[{"index":0,"type":"kv","opIndex":0,"op":"put","applied":true,"key":"k","value":1,"version":7}]}',
    ),
  ])
  const result = await transport.transaction({ requestId: 'r-1', operations: [], kv: [put], timers: [], runs: [] })
  assert.equal(result.success, true)
  assert.equal(requests.length, 2)
  assert.match(requests[0]?.body ?? '', /"requestId":"r-1"/)
  assert.equal(requests[0]?.body, requests[1]?.body)
})

test('a write of state whose answer is lost is told as unknown, never repeated; a read is repeated', async (t) => {
  const { transport, requests } = await serve(t, [
    cut,
    cut,
    answer(200, '{"results":[{"index":0,"op":"get","found":false,"key":"k"}]}'),
  ])
  await assert.rejects(transport.kv([put]), { code: 'outcome_unknown' })
  assert.equal(requests.length, 1)
  assert.deepEqual(await transport.kv([get]), { ok: true, results: [{ op: 'get', found: false, key: 'k' }] })
  assert.equal(requests.length, 3)
})

test('a 4xx is the answer at once, with its code and details', async (t) => {
  const { transport, requests } = await serve(t, [
    answer(400, '{"error":"bad body: items[0].queue must be text","code":"bad_request","field":"items[0].queue"}'),
    answer(400, '{"error":"kv_bad_request","reason":"kv_bad_key","detail":"key must be shorter"}'),
    answer(413, 'too large', { 'content-type': 'text/plain' }),
  ])
  await assert.rejects(transport.push([item]), { code: 'bad_request', message: /items\[0\]\.queue/ })
  await assert.rejects(transport.kv([put]), { code: 'kv_bad_request', message: 'key must be shorter' })
  await assert.rejects(transport.push([item]), { code: 'payload_too_large', message: 'too large' })
  assert.equal(requests.length, 3)
})

test('429 waits as told and comes again, also for what must not be doubled', async (t) => {
  const { transport, requests } = await serve(t, [
    answer(429, '{"error":"overloaded","code":"overloaded"}', { 'retry-after': '1' }),
    answer(200, '{"results":[{"index":0,"op":"put","applied":true,"key":"k","value":1,"version":1}]}'),
  ])
  const started = performance.now()
  assert.equal((await transport.kv([put])).ok, true)
  const waited = performance.now() - started
  assert.ok(waited >= 750 && waited < 20_000, `${waited} ms`)
  assert.equal(requests.length, 2)
})

test('a broker that answers nothing is left after the time limit', async (t) => {
  const { transport, requests } = await serve(t, [silence], 100)
  await assert.rejects(transport.kv([put]), { code: 'outcome_unknown', message: /in time/ })
  assert.equal(requests.length, 1)
})

test('nobody listening is unavailable after three attempts, also for what must not be doubled', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server)
  await new Promise((resolve) => server.close(resolve))
  const transport = httpTransport({
    addresses: createAddresses([`http://127.0.0.1:${port}`]),
    headers: {},
    token: null,
    timeoutMs: 1_000,
  })
  const started = performance.now()
  await assert.rejects(transport.kv([put]), { code: 'unavailable' })
  assert.ok(performance.now() - started >= 2_900, 'after one and two seconds')
})

test('names are encoded in the path, and a pop that is given up answers nothing and closes its connection', async (t) => {
  let noteClosed = (): void => {}
  const closed = new Promise<void>((resolve) => {
    noteClosed = resolve
  })
  const { transport, requests } = await serve(t, [
    answer(204, ''),
    (_, response) => {
      response.on('close', () => noteClosed())
    },
  ])
  assert.deepEqual(await transport.pop(popCall, signal), [])
  assert.match(
    requests[0]?.path ?? '',
    /^\/api\/v1\/pop\/queue\/a%2Fb\/partition\/%C3%BC\?batch=1&partitions=1&wait=false/,
  )
  const stop = new AbortController()
  const popping = transport.pop({ ...popCall, wait: true, timeoutMs: 30_000 }, stop.signal)
  while (requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  assert.deepEqual(await popping, [])
  await closed
})

test('an answer that does not fit is a fault, not a guess', async (t) => {
  const { transport } = await serve(t, [
    answer(201, '[]'),
    answer(201, '{'),
    answer(201, '[{"status":"queued"}]'),
    answer(201, '[{"status":"stored"}]'),
  ])
  for (let round = 0; round < 4; round += 1) await assert.rejects(transport.push([item]), { code: 'internal' })
})

test('the payload of a delivery is the text that travelled', async (t) => {
  const payload = '{ "b":9007199254740993,"a":[1e400,"\\u0000"] }'
  const { transport } = await serve(t, [
    answer(
      200,
      `{"success":true,"messages":[{"id":"m","transactionId":"t","traceId":null,"data":${payload},"producerSub":null,"createdAt":"x","partitionId":"1","partition":"p","leaseId":"l","consumerGroup":"g","deliveryAttempt":1,"offset":0,"new":{"data":1}}]}`,
    ),
  ])
  const [delivery] = await transport.pop(popCall, signal)
  assert.equal(delivery?.payload, payload)
})
