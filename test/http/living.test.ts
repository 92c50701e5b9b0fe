// How the broker lives: clients that go away, a stop under load, PostgreSQL restarting, the whole schema missing.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { ClientRequest } from 'node:http'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import type { LogFields } from '../../src/broker/logger.ts'
import { administer, createTestDatabase } from '../../src/testing/database.ts'
import { startProxy } from '../../src/testing/proxy.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { exchange, serve } from './served.ts'
import type { Served } from './served.ts'

const WAIT = 'consumerGroup=g&subscriptionMode=all&wait=true&timeout=30000'

/** A request that can be torn down; its fate is nobody's concern. Kept alive, as the clients' connections are. */
function open(url: string, path: string): ClientRequest {
  const { hostname, port } = new URL(url)
  const outgoing = request({ hostname, port, path, agent: false, headers: { connection: 'keep-alive' } })
  outgoing.on('error', () => {})
  outgoing.end()
  return outgoing
}

async function gauge({ get }: Served, name: string): Promise<number> {
  const { text } = await get('/metrics/prometheus')
  return Number(new RegExp(`\\n${name} (\\S+)`).exec(text)?.[1])
}

test('a parked poll whose client goes away frees its place and takes nothing', async (t) => {
  const served = await serve(t)
  const gone = Array.from({ length: 20 }, () => open(served.url, `/api/v1/pop/queue/q?${WAIT}`))
  await waitFor('twenty parked polls', async () => (await gauge(served, 'lockstep_parked_polls')) === 20)
  for (const outgoing of gone) outgoing.destroy()
  await waitFor('none', async () => (await gauge(served, 'lockstep_waiting_pops')) === 0)
  await served.push('q', [1])
  const { status, json } = await served.pop('q', 'consumerGroup=g')
  assert.deepEqual([status, json.messages[0].deliveryAttempt], [200, 1])
})

test('a client that goes away while its pop is in flight leaves no lease behind', async (t) => {
  const served = await serve(t)
  await served.push('q', [1])
  await served.pop('q', 'consumerGroup=other')
  const blocker = await served.db.connect()
  // Holds the look up where it registers the group, so that the pop is in flight while the client goes.
  await blocker.query('begin')
  await blocker.query('lock table lockstep.consumer_group in exclusive mode')
  const outgoing = open(served.url, '/api/v1/pop/queue/q?consumerGroup=g&subscriptionMode=all')
  await waitFor('the look', async () => (await gauge(served, 'lockstep_calls_running')) >= 1)
  outgoing.destroy()
  await waitFor('the client to be gone', async () => (await gauge(served, 'lockstep_waiting_pops')) === 0)
  await blocker.query('rollback')
  await waitFor('the lease to be handed back', async () => (await gauge(served, 'lockstep_calls_running')) === 0)
  const started = performance.now()
  const { status, json } = await served.pop('q', 'consumerGroup=g&wait=true&timeout=60000')
  assert.deepEqual([status, json.messages.length], [200, 1])
  assert.ok(performance.now() - started < 30_000, 'not by waiting for the lease of a minute to lapse')
})

test('clients that abort at random lose no message and count no failure', async (t) => {
  const served = await serve(t)
  await served.post('/api/v1/configure', { queue: 'q', options: { leaseTime: 3, crashLimit: 1000 } })
  await served.push(
    'q',
    Array.from({ length: 20 }, (_, i) => i),
  )
  const stop = new AbortController()
  const seen: number[] = []
  const settle = async (text: string): Promise<void> => {
    const [{ transactionId, partitionId, leaseId, data }] = JSON.parse(text).messages
    const acked = await served.post('/api/v1/ack', { transactionId, partitionId, leaseId, consumerGroup: 'g' })
    if (acked.json[0].success) seen.push(data)
  }
  // Who hears the answer before giving up settles it like anybody.
  const aborters = Array.from({ length: 4 }, async () => {
    while (!stop.signal.aborted) {
      const outgoing = open(served.url, `/api/v1/pop/queue/q?${WAIT}&batch=1`)
      const heard = new Promise<string>((resolve) => {
        outgoing.on('response', (response) => {
          let text = ''
          response.on('data', (chunk: Buffer) => (text += chunk.toString()))
          response.on('error', () => {})
          response.on('end', () => resolve(text))
        })
      })
      const patience = new Promise<string>((resolve) => setTimeout(() => resolve(''), Math.random() * 80))
      const text = await Promise.race([heard, patience])
      outgoing.destroy()
      if (text !== '') await settle(text)
    }
  })
  try {
    await waitFor(
      'all twenty',
      async () => {
        const { status, text } = await served.pop('q', `${WAIT}&batch=1`.replace('30000', '500'))
        if (status === 200) await settle(text)
        return seen.length >= 20
      },
      60_000,
    )
  } finally {
    stop.abort()
  }
  await Promise.all(aborters)
  assert.deepEqual(
    seen,
    Array.from({ length: 20 }, (_, i) => i),
  )
  assert.deepEqual((await served.get('/api/v1/dlq')).json.messages, [])
})

test('a stop answers parked polls empty, finishes what is in flight and leaves no lease it gave to nobody', async (t) => {
  const served = await serve(t, { drainMs: 120_000 })
  const parked = Array.from({ length: 10 }, () => served.get(`/api/v1/pop/queue/empty?${WAIT}`))
  await waitFor('ten parked polls', async () => (await gauge(served, 'lockstep_parked_polls')) === 10)
  const pushes = Array.from({ length: 40 }, (_, i) =>
    served.post('/api/v1/push', { items: [{ queue: 'q', payload: i }] }),
  )
  const settled = Promise.allSettled(pushes)
  await waitFor('some of them', async () => (await served.sql('select 1 from lockstep.message limit 1')).length > 0)
  const started = performance.now()
  await Promise.all([served.broker.stop(), served.broker.stop()])
  assert.ok(performance.now() - started < 25_000, 'neither the polls nor the patience were waited for')
  for (const reply of await Promise.all(parked)) assert.equal(reply.status, 204)
  const outcomes = await settled
  const stored = outcomes.filter((each) => each.status === 'fulfilled' && each.value.status === 201).length
  const [row] = await served.sql('select count(*)::int as n from lockstep.message')
  assert.equal(row?.['n'], stored, 'what was answered is what is stored')
  await assert.rejects(exchange(served.url, 'GET', '/health'))
  // A server process ends a moment after its connection.
  await waitFor('no backend to be left', async () => {
    const [backends] = await served.sql(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'lockstep-broker'`,
    )
    return backends?.['n'] === 0
  })
})

test('while it drains health is red and new work is told to go elsewhere', async (t) => {
  const served = await serve(t)
  await served.push('q', [1], 'held')
  const blocker = await served.db.connect()
  await blocker.query('begin')
  await blocker.query('select 1 from lockstep.partition for update')
  const inFlight = served.push('q', [2], 'held')
  await waitFor('the push', async () => (await gauge(served, 'lockstep_calls_running')) >= 1)
  const stopping = served.broker.stop()
  const health = await served.get('/health')
  assert.deepEqual([health.status, health.json.status, health.headers['connection']], [503, 'draining', 'close'])
  const refused = await served.post('/api/v1/push', { items: [{ queue: 'q', payload: 3 }] })
  assert.deepEqual([refused.status, refused.json.code, refused.headers['retry-after']], [503, 'draining', '1'])
  await blocker.query('rollback')
  assert.equal((await inFlight).length, 1)
  await stopping
})

test('a broker can be started again after a stop, and both are idempotent', async (t) => {
  const { db } = await serve(t)
  const broker = createBroker({ connectionString: db.connectionString, port: 0 })
  await broker.stop()
  for (let i = 0; i < 3; i++) {
    await Promise.all([broker.start(), broker.start()])
    assert.equal((await exchange(broker.address, 'GET', '/health')).status, 200)
    await Promise.all([broker.stop(), broker.stop()])
  }
  assert.throws(() => broker.address, /not started/)
})

test('the broker lives through killed backends under load: 503 with Retry-After, nothing lost, nothing doubled', async (t) => {
  const served = await serve(t)
  const stop = new AbortController()
  const stored = new Set<string>()
  const unknown = new Set<string>()
  let serial = 0
  const producers = Array.from({ length: 8 }, async () => {
    while (!stop.signal.aborted) {
      const transactionId = `m-${(serial += 1)}`
      for (;;) {
        const { status, json, headers } = await served.post('/api/v1/push', {
          items: [{ queue: 'q', payload: transactionId, transactionId }],
        })
        if (status === 201) {
          stored.add(transactionId)
          break
        }
        assert.ok(status === 503 || status === 500, `${status} ${JSON.stringify(json)}`)
        if (status === 503) assert.equal(headers['retry-after'], '1')
        unknown.add(transactionId)
        if (stop.signal.aborted) break
      }
    }
  })
  try {
    for (let i = 0; i < 25; i++) {
      await new Promise((resolve) => setTimeout(resolve, 40))
      await administer((client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'lockstep-broker'`,
          [served.db.name],
        ),
      )
    }
  } finally {
    stop.abort()
  }
  await Promise.all(producers)
  assert.ok(stored.size > 20)
  await waitFor('health', async () => (await served.get('/health')).status === 200)
  const rows = await served.sql('select transaction_id, count(*)::int as n from lockstep.message group by 1')
  const kept = new Map(rows.map((row) => [row['transaction_id'], row['n']]))
  for (const id of stored) assert.equal(kept.get(id), 1, id)
  for (const [id, times] of kept) assert.ok(times === 1 && (stored.has(id) || unknown.has(id)), id)
})

test('while PostgreSQL is away health is red and calls are 503; it recovers by itself', async (t) => {
  const db = await createTestDatabase(t)
  const proxy = await startProxy(db.connectionString)
  const broker = createBroker({ connectionString: proxy.connectionString, port: 0, connections: 4 })
  await broker.start()
  t.after(() => broker.stop())
  const { address } = broker
  assert.equal((await exchange(address, 'GET', '/health')).status, 200)
  const parked = exchange(address, 'GET', `/api/v1/pop/queue/q?${WAIT}`)
  await waitFor('the parked poll', async () => {
    const { text } = await exchange(address, 'GET', '/metrics/prometheus')
    return text.includes('\nlockstep_parked_polls 1\n')
  })
  await proxy.stop()
  const red = await exchange(address, 'GET', '/health')
  assert.deepEqual([red.status, red.headers['retry-after'], red.json.database], [503, '1', 'disconnected'])
  const push = await exchange(address, 'POST', '/api/v1/push', '{"items":[{"queue":"q","payload":1}]}')
  assert.deepEqual([push.status, push.headers['retry-after'], push.json.code], [503, '1', 'unavailable'])
  const again = await startProxy(db.connectionString, { port: proxy.port })
  t.after(() => again.stop())
  await waitFor('health', async () => (await exchange(address, 'GET', '/health')).status === 200)
  const healed = await exchange(address, 'POST', '/api/v1/push', '{"items":[{"queue":"q","payload":1}]}')
  assert.equal(healed.status, 201)
  assert.equal((await parked).status, 200)
})

test('an outage under load is told a few times a second and counted, not repeated for every request', async (t) => {
  const db = await createTestDatabase(t)
  const proxy = await startProxy(db.connectionString)
  const events: { readonly event: string; readonly fields: LogFields }[] = []
  const logger = { info() {}, error: (event: string, fields: LogFields = {}) => events.push({ event, fields }) }
  const broker = createBroker({
    connectionString: proxy.connectionString,
    port: 0,
    connections: 4,
    logger,
    upkeep: false,
  })
  await broker.start()
  t.after(() => broker.stop())
  await proxy.stop()
  const push = (): Promise<unknown> =>
    exchange(broker.address, 'POST', '/api/v1/push', '{"items":[{"queue":"q","payload":"secret"}]}')
  await Promise.all(Array.from({ length: 80 }, push))
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  await push()
  const failed = events.filter(({ event }) => event === 'request failed')
  const counted = events.find(({ event }) => event === 'further requests failed')
  assert.ok(failed.length >= 1 && failed.length <= 61, `${failed.length} lines`)
  assert.ok(Number(counted?.fields['count']) > 0)
  assert.equal(failed[0]?.fields['code'], 'unavailable')
  assert.ok(!JSON.stringify(events).includes('secret'), 'no payload in the log')
})

test('a broker starts before PostgreSQL answers, and refuses a database without the schema', async (t) => {
  const db = await createTestDatabase(t)
  const proxy = await startProxy(db.connectionString)
  await proxy.stop()
  const early = createBroker({ connectionString: proxy.connectionString, port: 0, connections: 3 })
  await early.start()
  t.after(() => early.stop())
  assert.equal((await exchange(early.address, 'GET', '/health')).status, 503)
  const again = await startProxy(db.connectionString, { port: proxy.port })
  t.after(() => again.stop())
  await waitFor('health', async () => (await exchange(early.address, 'GET', '/health')).status === 200)

  const empty = await createTestDatabase(t, { migrated: false })
  const refused = createBroker({ connectionString: empty.connectionString, port: 0 })
  await assert.rejects(refused.start(), { code: 'schema_missing' })
})

test('one request that waits for a lock fails alone; the pushes joined with it are stored', async (t) => {
  const served = await serve(t)
  await served.push('q', [0], 'held')
  await served.push('q', [0], 'free')
  const blocker = await served.db.connect()
  await blocker.query('begin')
  await blocker.query(`select 1 from lockstep.partition where name = 'held' for update`)
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      served.post('/api/v1/push', { items: [{ queue: 'q', partition: i === 3 ? 'held' : 'free', payload: i }] }),
    ),
  )
  await blocker.query('rollback')
  for (const [i, { status, json }] of replies.entries()) {
    if (i === 3) assert.deepEqual([status, json.code], [503, 'busy'])
    else assert.equal(status, 201, `push ${i}`)
  }
})
