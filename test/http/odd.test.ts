// CASES B32 and B33 where they touch the broker: slow, huge and odd HTTP, foreign origins, prototype keys. The process stays
// up, says what is wrong, and serves others meanwhile.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ROUTES } from '../../src/broker/http/routes.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { exchange, serve } from './served.ts'

const PUSH = '{"items":[{"queue":"q","payload":1}]}'

function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket))
    socket.on('error', reject)
  })
}

/** Writes raw bytes and gathers what comes back until the server closes. */
async function raw(url: string, bytes: string): Promise<string> {
  const socket = await dial(url)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.write(bytes, 'latin1')
  await new Promise<void>((resolve) => socket.on('close', () => resolve()))
  return text
}

test('an unknown path has the wire’s shape; a wrong method says which are right', async (t) => {
  const { get, send } = await serve(t)
  for (const path of ['/api/v1/nope', '/api/v1/pop/queue/', '/', '/etc/passwd', '/..%2f..%2fetc/passwd', '/%2e%2e/']) {
    const { status, json, text } = await get(path)
    assert.equal(status, 404, path)
    assert.deepEqual(json, { code: 'no_such_route', error: 'not found', path }, text)
  }
  const { status, headers, json } = await send('DELETE', '/api/v1/push')
  assert.deepEqual([status, headers['allow'], json.code], [405, 'POST', 'method_not_allowed'])
  const kv = await send('POST', '/api/v1/kv/a/b', {})
  assert.deepEqual([kv.status, kv.headers['allow']], [405, 'GET, PUT, DELETE'])
  assert.equal((await send('OPTIONS', '/api/v1/push')).status, 405)
  const head = await send('HEAD', '/health')
  assert.deepEqual([head.status, head.text], [200, ''])
  assert.equal((await send('HEAD', '/api/v1/pop/queue/q')).status, 405)
})

test('the least and the largest number that a query parameter takes are served by every read', async (t) => {
  const { get } = await serve(t)
  const faults: string[] = []
  let tried = 0
  for (const { method, path, query } of ROUTES) {
    if (method !== 'GET') continue
    const named = path.replaceAll(/[:*]\w+/g, 'q')
    for (const [name, { schema = {} }] of Object.entries(query ?? {})) {
      for (const bound of [schema['minimum'], schema['maximum']]) {
        if (typeof bound !== 'number') continue
        tried += 1
        const { status, text } = await get(`${named}?${name}=${bound}`)
        if (status >= 500) faults.push(`${path}?${name}=${bound}: ${status} ${text}`)
      }
    }
  }
  assert.ok(tried > 20, `${tried} bounds`)
  assert.deepEqual(faults, [])
})

test('every answer carries a request id of its own and forbids sniffing', async (t) => {
  const { get, post } = await serve(t)
  const replies = [await get('/health'), await get('/nope'), await post('/api/v1/push', '{'), await get('/health')]
  const ids = replies.map(({ headers }) => headers['x-request-id'])
  assert.equal(new Set(ids).size, replies.length)
  for (const { headers } of replies) {
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['access-control-allow-origin'], undefined)
    assert.match(headers['content-type'] ?? '', /application\/json/)
  }
})

test('a page of another origin may not change anything, not even by a pop', async (t) => {
  const { url, send } = await serve(t)
  const own = url.replace('http://', '')
  for (const origin of ['http://evil.example', 'null', `https://${own}.evil.example`, 'http://127.0.0.1:1', 'x']) {
    const headers = { origin }
    assert.equal((await send('POST', '/api/v1/push', PUSH, headers)).status, 403, origin)
    assert.equal((await send('GET', '/api/v1/pop/queue/q', undefined, headers)).status, 403, origin)
    assert.equal((await send('DELETE', '/api/v1/resources/queues/q', undefined, headers)).status, 403, origin)
    assert.equal((await send('GET', '/health', undefined, headers)).status, 200, origin)
  }
  assert.equal((await send('POST', '/api/v1/push', PUSH, { origin: url })).status, 201)
})

test('an image, a link or a form of another page may not pop: browsers tell those without an Origin', async (t) => {
  const { url, push, pop, send } = await serve(t)
  await push('q', [1])
  const path = '/api/v1/pop/queue/q?subscriptionMode=all&autoAck=true'
  const foreign: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', referer: `${url}/` },
    { 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' },
    { referer: 'https://evil.example/page' },
    { referer: 'nonsense' },
  ]
  for (const headers of foreign) {
    const text = JSON.stringify(headers)
    const refused = await send('GET', path, undefined, headers)
    assert.deepEqual([refused.status, refused.json.code], [403, 'forbidden'], text)
    assert.equal((await send('GET', '/api/v1/pop?task=t', undefined, headers)).status, 403, text)
    assert.equal((await send('GET', '/api/v1/dlq', undefined, headers)).status, 403, text)
    for (const open of ['/health', '/metrics', '/metrics/prometheus']) {
      assert.equal((await send('GET', open, undefined, headers)).status, 200, text)
    }
  }
  const own: readonly Record<string, string>[] = [
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { referer: `${url}/dashboard` },
    { 'sec-fetch-site': 'same-origin', origin: url },
    {},
  ]
  for (const headers of own) {
    const reply = await send('GET', '/api/v1/dlq?queue=q', undefined, headers)
    assert.equal(reply.status, 200, JSON.stringify(headers))
  }
  assert.equal((await pop('q')).json.messages.length, 1)
})

test('beyond loopback names decide once some were told, and pages under them are its own', async (t) => {
  const beyond = { host: '0.0.0.0', allowOpen: true }
  const open = await serve(t, beyond)
  const named = await serve(t, { ...beyond, hostNames: [' Queue.example', 'q.example:8443', ''] })
  const ask = async ({ url }: { url: string }, headers: Record<string, string>): Promise<number> =>
    (await exchange(url.replace('0.0.0.0', '127.0.0.1'), 'POST', '/api/v1/push', PUSH, headers)).status
  assert.equal(await ask(open, { host: 'any.example', origin: 'http://any.example' }), 201)
  assert.equal(await ask(open, { host: 'any.example', origin: 'http://evil.example' }), 403)
  assert.equal(await ask(named, { host: 'any.example' }), 403)
  assert.equal(await ask(named, { host: 'any.example', origin: 'http://any.example' }), 403)
  assert.equal(await ask(named, { host: 'queue.example:80', origin: 'https://queue.example' }), 201)
  assert.equal(await ask(named, { host: 'localhost', origin: 'https://q.example:8443' }), 201)
  assert.equal(await ask(named, { host: 'q.example:8443' }), 201)
  assert.equal(await ask(named, { host: 'q.example:8444' }), 403)
  assert.equal(await ask(named, { host: 'queue.example', origin: 'https://queue.example:9' }), 403)
})

test('a page whose name was pointed at localhost gets nothing, not even a read', async (t) => {
  const { url, get, send } = await serve(t, { hostNames: ['broker.internal'] })
  const port = new URL(url).port
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    '127.0.0.1.evil.example',
  ]) {
    const headers = { host, origin: `http://${host}` }
    assert.equal((await send('POST', '/api/v1/push', PUSH, headers)).status, 403, host)
    assert.equal((await send('GET', '/api/v1/dlq', undefined, { host })).status, 403, host)
    assert.equal((await send('GET', '/api/v1/pop/queue/q', undefined, { host })).status, 403, host)
  }
  for (const host of [`localhost:${port}`, 'LOCALHOST', `[::1]:${port}`, `127.0.0.2:${port}`, 'broker.internal:80']) {
    assert.equal((await send('GET', '/health', undefined, { host })).status, 200, host)
  }
  assert.equal((await get('/health')).status, 200)
})

test('bodies that are not JSON by their type, or compressed, are refused', async (t) => {
  const { send } = await serve(t)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'json']) {
    const { status, json } = await send('POST', '/api/v1/push', PUSH, { 'content-type': type })
    assert.deepEqual([status, json.code], [415, 'unsupported_media_type'], type)
  }
  for (const type of ['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json']) {
    assert.equal((await send('POST', '/api/v1/push', PUSH, { 'content-type': type })).status, 201, type)
  }
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const gzip = await send('POST', '/api/v1/push', bomb, { 'content-encoding': 'gzip' })
  assert.equal(gzip.status, 415)
  const { hostname, port } = new URL((await serve(t)).url)
  const bare = await raw(
    `http://${hostname}:${port}`,
    `POST /api/v1/push HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${PUSH.length}\r\n\r\n${PUSH}`,
  )
  assert.match(bare, /^HTTP\/1\.1 201/)
})

test('a body is taken up to its limit, and one announced larger is refused before it is sent', async (t) => {
  const { url } = await serve(t)
  const { hostname, port } = new URL(url)
  const announced = (length: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const outgoing = request({
        hostname,
        port,
        method: 'POST',
        path: '/api/v1/push',
        headers: { 'content-type': 'application/json', 'content-length': String(length), expect: '100-continue' },
        agent: false,
      })
      outgoing.on('continue', () => {
        resolve('go on')
        outgoing.destroy()
      })
      outgoing.on('response', (response) => resolve(response.statusCode))
      outgoing.on('error', reject)
      outgoing.flushHeaders()
    })
  assert.equal(await announced(LIMITS.bodyBytes), 'go on')
  assert.equal(await announced(LIMITS.bodyBytes + 1), 413)
})

test('an endless chunked body is cut at the limit, its answer arrives, and memory stays', async (t) => {
  const { url, get } = await serve(t)
  const { hostname, port } = new URL(url)
  const before = process.memoryUsage().rss
  const chunk = Buffer.alloc(1024 * 1024, 0x20)
  let sent = 0
  const outcome = await new Promise<{ status: number | undefined; text: string }>((resolve) => {
    const outgoing = request({
      hostname,
      port,
      method: 'POST',
      path: '/api/v1/push',
      headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    })
    let answered: { status: number | undefined; text: string } = { status: undefined, text: '' }
    outgoing.on('response', (response) => {
      answered = { status: response.statusCode, text: '' }
      response.on('data', (part: Buffer) => (answered.text += part.toString()))
      response.on('error', () => {})
    })
    outgoing.on('error', () => {})
    outgoing.on('close', () => resolve(answered))
    const more = (): void => {
      if (outgoing.destroyed || sent >= 1024 * 1024 * 1024) {
        outgoing.end()
        return
      }
      sent += chunk.length
      if (outgoing.write(chunk)) setImmediate(more)
      else outgoing.once('drain', more)
    }
    more()
  })
  assert.equal(outcome.status, 413)
  assert.match(outcome.text, /payload_too_large/)
  assert.ok(sent < 1024 * 1024 * 1024, 'the sender was stopped')
  assert.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024)
  assert.equal((await get('/health')).status, 200)
})

test('half-sent headers do not hold others up, and large ones are refused', async (t) => {
  const { url, post } = await serve(t)
  const slow = await Promise.all(Array.from({ length: 500 }, () => dial(url)))
  // A header that does not end, drip by drip: anything else would be no HTTP soon and refused for that.
  for (const socket of slow) socket.write('GET /health HTTP/1.1\r\nX-A: ')
  const drip = setInterval(() => {
    for (const socket of slow) socket.write('E')
  }, 50)
  t.after(() => clearInterval(drip))
  let ended = 0
  for (const socket of slow) socket.on('close', () => (ended += 1))
  for (let i = 0; i < 20; i++) assert.equal((await post('/api/v1/push', PUSH)).status, 201)
  assert.equal(ended, 0, 'the others were served beside them, not after them')
  clearInterval(drip)
  for (const socket of slow) socket.destroy()
  // The name, its colon and the line's end are counted too, as are those of Host.
  const headed = (bytes: number): Promise<string> =>
    raw(url, `GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-A: ${'a'.repeat(bytes)}\r\n\r\n`)
  assert.match(await headed(LIMITS.headerBytes - 100), /^HTTP\/1\.1 200/)
  assert.match(await headed(LIMITS.headerBytes), /^HTTP\/1\.1 431/)
})

test('requests that are no HTTP, or end in the middle, cost nothing but their connection', async (t) => {
  const { url, get } = await serve(t)
  for (const bytes of [
    'GARBAGE\r\n\r\n',
    'GET /health HTTP/9.9\r\n\r\n',
    'POST /api/v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /api/v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n',
    'GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ]) {
    const text = await raw(url, bytes)
    assert.match(text, /^HTTP\/1\.1 400/, bytes)
    assert.match(text, /\r\nx-request-id: \S+\r\n/)
    assert.match(text, /\{"error":"[^"]+","code":"bad_request"\}$/)
  }
  const cut = await dial(url)
  cut.write(
    'POST /api/v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{"items"',
  )
  await new Promise((resolve) => setTimeout(resolve, 50))
  cut.destroy()
  assert.equal((await get('/health')).status, 200)
  await waitFor('the bytes to be let go', async () =>
    /lockstep_body_bytes 0\n/.test((await get('/metrics/prometheus')).text),
  )
})

test('prototype keys in a body, a query or a path change no object and are carried as data', async (t) => {
  const { url, get, post, pop } = await serve(t)
  const evil = '{"__proto__":{"role":"admin","queue":"q","payload":1},"constructor":{"prototype":{"x":1}}}'
  for (const route of ROUTES) {
    const path = route.path.replaceAll(/[:*][A-Za-z]+/g, '__proto__')
    const reply = await exchange(
      url,
      route.method,
      `${path}?__proto__=1&constructor=2`,
      route.method === 'GET' ? undefined : evil,
    )
    assert.ok(reply.status < 500, `${route.method} ${route.path}: ${reply.status} ${reply.text}`)
  }
  assert.equal(Reflect.get({}, 'role'), undefined)
  assert.equal(Reflect.get({}, 'x'), undefined)
  await post('/api/v1/push', `{"items":[{"queue":"data","payload":${evil}}]}`)
  assert.ok((await pop('data')).text.includes(`"data":${evil}`))
  assert.equal((await get('/health')).status, 200)
})

test('a name parameter given twice is refused, not chosen from', async (t) => {
  const { get } = await serve(t)
  assert.equal((await get('/api/v1/pop/queue/q?consumerGroup=a&consumerGroup=b')).status, 400)
  assert.equal((await get('/api/v1/pop/queue/q?consumerGroup=a&consumerGroup=a')).status, 204)
})

test('it refuses to listen where others reach it as long as no token is checked', async (t) => {
  const { createBroker } = await import('../../src/broker/create-broker.ts')
  const { db } = await serve(t)
  const { connectionString } = db
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.com']) {
    await assert.rejects(createBroker({ connectionString, host, port: 0 }).start(), /LOCKSTEP_ALLOW_OPEN/)
  }
  const open = createBroker({ connectionString, host: '0.0.0.0', port: 0, allowOpen: true })
  await open.start()
  await open.stop()
})

test('bodies being read are bounded all together: past the bound 429, and small ones pass again when there is room', async (t) => {
  const { url, get, post } = await serve(t)
  const large = await dial(url)
  large.on('data', () => {})
  large.write(
    `POST /api/v1/push HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${64 * 1024 * 1024}\r\n\r\n{`,
  )
  const bytes = async (): Promise<number> =>
    Number(/\nlockstep_body_bytes (\d+)/.exec((await get('/metrics/prometheus')).text)?.[1])
  await waitFor('the large body', async () => (await bytes()) > 0)
  const refused = await post('/api/v1/push', PUSH)
  assert.deepEqual([refused.status, refused.json.code, refused.headers['retry-after']], [429, 'overloaded', '1'])
  large.destroy()
  await waitFor('the room', async () => (await bytes()) === 0)
  assert.equal((await post('/api/v1/push', PUSH)).status, 201)
})

test('hundreds of parked polls on few connections keep no other call waiting', async (t) => {
  const { url, get, post } = await serve(t, { connections: 4 })
  const polls = await Promise.all(Array.from({ length: 600 }, () => dial(url)))
  for (const [i, socket] of polls.entries()) {
    socket.on('data', () => {})
    socket.write(
      `GET /api/v1/pop/queue/q${i % 3}?wait=true&timeout=300000&consumerGroup=g HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    )
  }
  await waitFor('all to park', async () =>
    /\nlockstep_parked_polls 600\n/.test((await get('/metrics/prometheus')).text),
  )
  for (let i = 0; i < 40; i++)
    assert.equal((await post('/api/v1/push', '{"items":[{"queue":"elsewhere","payload":1}]}')).status, 201)
  assert.match(
    (await get('/metrics/prometheus')).text,
    /\nlockstep_waiting_pops 600\n/,
    'nobody waited for a poll to end',
  )
  for (const socket of polls) socket.destroy()
  await waitFor('all places to be free', async () =>
    /\nlockstep_waiting_pops 0\n/.test((await get('/metrics/prometheus')).text),
  )
})
