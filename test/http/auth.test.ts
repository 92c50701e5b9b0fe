// Authentication at the door: every route with every role, the bodies of refusals, whose name a message carries, and what is
// checked before a body is read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { readSettings } from '../../src/broker/config.ts'
import type { Access, Route } from '../../src/broker/http/route.ts'
import { ROUTES } from '../../src/broker/http/routes.ts'
import { Lockstep } from '../../src/client/lockstep.ts'
import { until } from '../kit/quiet.ts'
import { secretToken } from '../kit/tokens.ts'
import { exchange, serve } from './served.ts'

const SECRET = 'thirty-two bytes that nobody knows'
const bearer = (role: unknown, sub?: string): Record<string, string> => ({
  authorization: `Bearer ${secretToken(SECRET, { role, sub })}`,
})

/** Written from the wire's table of roles, not from the code's. */
const MAY: Readonly<Record<string, readonly Access[]>> = {
  admin: ['public', 'read-only', 'read-write', 'write-only', 'admin'],
  'read-write': ['public', 'read-only', 'read-write', 'write-only'],
  'read-only': ['public', 'read-only'],
  'write-only': ['public', 'write-only'],
  stranger: ['public'],
}

/** What the wire's route table says; each of these must be served, and so guarded. */
const WIRE: readonly (readonly [string, Access])[] = [
  ['GET /health', 'public'],
  ['GET /metrics', 'public'],
  ['GET /metrics/prometheus', 'public'],
  ['GET /status', 'read-only'],
  ['POST /api/v1/configure', 'read-write'],
  ['DELETE /api/v1/resources/queues/:queue', 'admin'],
  ['POST /api/v1/push', 'write-only'],
  ['GET /api/v1/pop/queue/:queue', 'read-write'],
  ['GET /api/v1/pop/queue/:queue/partition/:partition', 'read-write'],
  ['GET /api/v1/pop', 'read-write'],
  ['POST /api/v1/ack', 'read-write'],
  ['POST /api/v1/ack/batch', 'read-write'],
  ['POST /api/v1/lease/:leaseId/extend', 'read-write'],
  ['POST /api/v1/transaction', 'read-write'],
  ['POST /api/v1/kv', 'read-write'],
  ['POST /api/v1/locks', 'read-write'],
  ['POST /api/v1/timers', 'write-only'],
  ['GET /api/v1/timers/:queue', 'read-only'],
  ['GET /api/v1/timers/:queue/*timerKey', 'read-only'],
  ['DELETE /api/v1/timers/:queue/*timerKey', 'read-write'],
  ['GET /api/v1/kv/:ns/*key', 'read-only'],
  ['PUT /api/v1/kv/:ns/*key', 'read-write'],
  ['DELETE /api/v1/kv/:ns/*key', 'read-write'],
  ['POST /api/v1/traces', 'read-write'],
  ['GET /api/v1/traces/names', 'read-only'],
  ['GET /api/v1/traces/by-name/:name', 'read-only'],
  ['GET /api/v1/traces/:partitionId/:transactionId', 'read-only'],
  ['POST /streams/v1/queries', 'read-write'],
  ['POST /streams/v1/state/get', 'read-only'],
  ['POST /streams/v1/cycle', 'read-write'],
  ['GET /api/v1/consumer-groups/lagging', 'read-only'],
  ['GET /api/v1/consumer-groups/:group', 'read-only'],
  ['GET /api/v1/resources/overview', 'read-only'],
  ['GET /api/v1/resources/queues/:queue', 'read-only'],
  ['GET /api/v1/resources/queues/:queue/depth', 'read-only'],
  ['GET /api/v1/status', 'read-only'],
  ['GET /api/v1/status/queues/:queue', 'read-only'],
  ['GET /api/v1/status/analytics', 'read-only'],
  ['GET /api/v1/analytics/system-metrics', 'read-only'],
  ['POST /api/v1/stats/refresh', 'admin'],
  ['POST /api/v1/ephemeral/push', 'write-only'],
  ['GET /api/v1/audit', 'admin'],
  ['GET /api/v1/dlq', 'read-only'],
  ['GET /api/v1/messages/:partitionId/:transactionId', 'read-only'],
  ['GET /api/v1/resources/queues', 'read-only'],
  ['DELETE /api/v1/consumer-groups/:group', 'admin'],
  ['DELETE /api/v1/consumer-groups/:group/queues/:queue', 'admin'],
  ['POST /api/v1/consumer-groups/:group/queues/:queue/seek', 'read-write'],
  ['POST /api/v1/consumer-groups/:group/subscription', 'read-write'],
  ['GET /api/v1/consumer-groups', 'read-only'],
  ['GET /api/v1/messages', 'read-only'],
  ['DELETE /api/v1/messages/:partitionId/:transactionId', 'read-write'],
  ['POST /api/v1/dlq/:id/replay', 'read-write'],
  ['DELETE /api/v1/dlq', 'admin'],
  ['POST /api/v1/fetch', 'read-only'],
  ['POST /api/v1/fetch/offsets', 'read-only'],
  ['POST /api/v1/partitions/changed', 'read-only'],
  ['GET /api/v1/resources/partitions', 'read-only'],
]

const nameOf = (route: Route): string => `${route.method} ${route.path}`
const pathOf = (route: Route): string => route.path.replace(/[:*]\w+/g, 'x')

test('every route with every role: what the table of the wire allows passes, everything else is 401 or 403', async (t) => {
  const { send } = await serve(t, { auth: { secret: SECRET } })
  let cells = 0
  for (const route of ROUTES) {
    const body = route.method === 'GET' ? undefined : '{'
    const bare = await send(route.method, pathOf(route), body)
    const isPublic = route.access === 'public'
    assert.equal(bare.status === 401, !isPublic, `${nameOf(route)} without a token`)
    if (!isPublic) assert.deepEqual(bare.json, { error: 'Authentication required', code: 'unauthorized' })
    for (const [role, may] of Object.entries(MAY)) {
      const { status, json, text } = await send(route.method, pathOf(route), body, bearer(role))
      cells += 1
      const cell = `${nameOf(route)} as ${role}: ${status} ${text.slice(0, 200)}`
      if (may.includes(route.access)) assert.ok(status !== 401 && status !== 403, cell)
      else assert.deepEqual([status, json], [403, { error: 'Insufficient permissions', code: 'forbidden' }], cell)
    }
  }
  t.diagnostic(`${cells} cells of ${ROUTES.length} routes`)
  const served = new Map(ROUTES.map((route) => [nameOf(route), route.access]))
  for (const [name, access] of WIRE) assert.equal(served.get(name), access, name)
})

test("a message carries its producer's subject, from push and from a transaction, and never from the body", async (t) => {
  const { post, sql, url } = await serve(t, { auth: { secret: SECRET } })
  const ada = bearer('write-only', 'ada')
  const consumer = bearer('read-write', 'bob')
  const item = { queue: 'q', payload: 1, producerSub: 'forged' }
  assert.equal((await post('/api/v1/push', { items: [item] }, ada)).status, 201)
  const operations = [{ type: 'push', items: [{ ...item, payload: 2 }] }]
  assert.equal((await post('/api/v1/transaction', { operations }, consumer)).json.success, true)
  assert.equal((await post('/api/v1/push', { items: [{ ...item, payload: 3 }] }, bearer('admin'))).status, 201)
  const timer = { op: 'schedule', queue: 'q', timerKey: 'k', delayMs: 0, txn: 'late', payload: 'NA==' }
  assert.equal((await post('/api/v1/timers', { operations: [timer] }, ada)).json.results[0].ok, true)
  await until('the timer', async () => {
    const [row] = await sql("select count(*)::int as n from lockstep.message where transaction_id = 'late'")
    return row?.['n'] === 1
  })
  const popped = await exchange(url, 'GET', '/api/v1/pop/queue/q?subscriptionMode=all', undefined, consumer)
  const subjects = popped.json.messages.map((message: { data: unknown; producerSub: unknown }) => [
    message.data,
    message.producerSub,
  ])
  assert.deepEqual(subjects, [
    [1, 'ada'],
    [2, 'bob'],
    [3, null],
    [4, 'ada'],
  ])
  assert.deepEqual(await sql('select distinct producer_sub from lockstep.message order by 1'), [
    { producer_sub: 'ada' },
    { producer_sub: 'bob' },
    { producer_sub: null },
  ])
})

test('a request id of one subject is not answered to another', async (t) => {
  const { post } = await serve(t, { auth: { secret: SECRET } })
  const body = { requestId: 'r-1', items: [{ queue: 'q', transactionId: 't', payload: 1 }] }
  const first = await post('/api/v1/push', body, bearer('write-only', 'ada'))
  assert.equal(first.status, 201)
  assert.equal((await post('/api/v1/push', body, bearer('write-only', 'ada'))).text, first.text)
  assert.equal((await post('/api/v1/push', body, bearer('write-only', 'eve'))).json.code, 'request_conflict')
})

test('a stranger is turned away before the body is read, and told the scheme', async (t) => {
  const { url } = await serve(t, { auth: { secret: SECRET } })
  const large = Buffer.alloc(2_000_000, 0x20)
  const reply = await exchange(url, 'POST', '/api/v1/push', large)
  assert.equal(reply.status, 401)
  assert.equal(reply.headers['www-authenticate'], 'Bearer')
})

test('with a key it may listen beyond loopback; the client passes with a token or a function', async (t) => {
  const { db } = await serve(t)
  const { connectionString } = db
  const broker = createBroker({ connectionString, host: '0.0.0.0', port: 0, auth: { secret: SECRET } })
  await broker.start()
  t.after(() => broker.stop())
  const address = broker.address.replace('0.0.0.0', '127.0.0.1')
  const fixed = new Lockstep({ url: address, token: secretToken(SECRET, { role: 'read-write', sub: 'ada' }) })
  t.after(() => fixed.close())
  const [pushed] = await fixed.queue('mine').push([{ data: 1 }])
  assert.equal(pushed?.status, 'queued')
  let asked = 0
  const renewing = new Lockstep({
    url: address,
    async token() {
      asked += 1
      return secretToken(SECRET, asked === 1 ? { role: 'read-write', exp: 1 } : { role: 'read-write' })
    },
  })
  t.after(() => renewing.close())
  const [message] = await renewing.queue('mine').group('g').subscriptionMode('all').pop()
  assert.deepEqual([message?.producerSub, asked], ['ada', 2])
  const stranger = new Lockstep({ url: address })
  t.after(() => stranger.close())
  await assert.rejects(stranger.queue('mine').push([{ data: 1 }]), { code: 'unauthorized' })
  const reader = new Lockstep({ url: address, token: secretToken(SECRET, { role: 'read-only' }) })
  t.after(() => reader.close())
  await assert.rejects(reader.queue('mine').push([{ data: 1 }]), { code: 'forbidden' })
})

test('no token, secret or payload reaches the log, whatever goes wrong', async (t) => {
  const lines: string[] = []
  const note = (event: string, fields: object = {}): void => void lines.push(JSON.stringify({ event, ...fields }))
  const { send, url, broker } = await serve(t, { auth: { secret: SECRET }, logger: { info: note, error: note } })
  const token = secretToken(SECRET, { role: 'admin', sub: 'ada' })
  const secrets = [SECRET, token, 'word-of-a-payload']
  const body = { items: [{ queue: 'q', payload: 'word-of-a-payload' }], password: 'word-of-a-payload' }
  const answers = [
    await send('POST', '/api/v1/push', body, { authorization: `Bearer ${token}` }),
    await send('POST', '/api/v1/push', body, { authorization: `Bearer ${token}x` }),
    await send('POST', '/api/v1/push', `{"word-of-a-payload":`, { authorization: `Bearer ${token}` }),
    await send('POST', '/api/v1/push', body, { authorization: `Basic ${token}` }),
    await exchange(url, 'GET', `/api/v1/pop/queue/q?token=${token}`, undefined, {}),
  ]
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [201, 401, 400, 401, 401],
  )
  await broker.stop()
  assert.ok(lines.length > 0)
  for (const text of [...lines, ...answers.map((answer) => answer.text)]) {
    for (const secret of secrets) assert.ok(!text.includes(secret), text)
  }
})

test('settings make the same, and a rule without a key stops the start', async () => {
  const { authOptions } = await import('../../src/broker/auth/auth-settings.ts')
  assert.equal(authOptions(readSettings({})), null)
  const options = authOptions(readSettings({ JWT_SECRET: SECRET, JWT_AUDIENCE: 'a, b', JWT_ROLE_ADMIN: 'root' }))
  assert.deepEqual([options?.secret, options?.audience, options?.roleNames?.admin], [SECRET, ['a', 'b'], 'root'])
  for (const rule of [
    { JWT_ISSUER: 'x' },
    { JWT_AUDIENCE: 'x' },
    { JWT_ALGORITHM: 'HS256' },
    { JWT_REQUIRE_EXP: 'true' },
  ]) {
    assert.throws(() => authOptions(readSettings(rule)), /without a key no token is checked/)
  }
})
