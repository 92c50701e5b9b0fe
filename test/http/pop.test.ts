// WIRE section 4: the three pops, what they answer, whom they serve, where a group begins, and long polls.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../src/protocol/limits.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { paceOf, serve, serveSpread } from './served.ts'

const dataOf = (json: Untyped): unknown[] => json.messages.map((message: Untyped) => message.data)

test('nothing to deliver is 204 without a body and without a content-length', async (t) => {
  const { pop } = await serve(t)
  const { status, text, headers } = await pop('q')
  assert.equal(status, 204)
  assert.equal(text, '')
  assert.equal(headers['content-length'], undefined)
  assert.equal(headers['content-type'], undefined)
  assert.ok(headers['x-request-id'])
})

test('a delivery has all fields, on top and on every message', async (t) => {
  const { push, pop } = await serve(t)
  const [id] = await push('q', [{ a: 1 }], 'p')
  const { status, json } = await pop('q', 'consumerGroup=g')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json), [
    'success',
    'queue',
    'partition',
    'partitionId',
    'leaseId',
    'consumerGroup',
    'messages',
    'partitionsClaimed',
  ])
  const [message] = json.messages
  assert.deepEqual(Object.keys(message), [
    'id',
    'transactionId',
    'traceId',
    'data',
    'producerSub',
    'createdAt',
    'partitionId',
    'partition',
    'leaseId',
    'consumerGroup',
    'deliveryAttempt',
    'offset',
  ])
  assert.equal(message.transactionId, id)
  assert.deepEqual(message.data, { a: 1 })
  assert.match(message.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
  assert.equal(typeof message.partitionId, 'string')
  assert.equal(message.partition, 'p')
  assert.equal(message.leaseId, json.leaseId)
  assert.equal(message.consumerGroup, 'g')
  assert.equal(message.deliveryAttempt, 1)
  assert.equal(message.offset, 0)
  assert.equal(json.queue, 'q')
  assert.equal(json.partitionsClaimed, 1)
})

test('without a group a pop is in queue mode, from the oldest message whatever the mode says', async (t) => {
  const { push, get } = await serve(t)
  await push('q', [1])
  const { json } = await get('/api/v1/pop/queue/q?subscriptionMode=new')
  assert.deepEqual(dataOf(json), [1])
  assert.equal(json.messages[0].consumerGroup, '__QUEUE_MODE__')
})

test('batch and partitions bound a pop; its partitions share one lease', async (t) => {
  const { push, pop } = await serve(t)
  for (const partition of ['a', 'b', 'c']) await push('q', [1, 2, 3], partition)
  const one = await pop('q', 'consumerGroup=g&batch=2')
  assert.equal(one.json.messages.length, 2)
  const two = await pop('q', 'consumerGroup=h&batch=100&partitions=2')
  assert.equal(two.json.partitionsClaimed, 2)
  assert.equal(two.json.messages.length, 6)
  assert.equal(new Set(two.json.messages.map((message: Untyped) => message.leaseId)).size, 1)
  const rest = await pop('q', 'consumerGroup=h&batch=100&partitions=2')
  assert.notEqual(rest.json.leaseId, two.json.leaseId)
  assert.equal(rest.json.partitionsClaimed, 1)
})

test('a leased partition is skipped by the group and open to other groups', async (t) => {
  const { push, pop } = await serve(t)
  await push('q', [1, 2])
  assert.equal((await pop('q', 'consumerGroup=g&batch=1')).status, 200)
  assert.equal((await pop('q', 'consumerGroup=g&batch=1')).status, 204)
  assert.equal((await pop('q', 'consumerGroup=h&batch=1')).status, 200)
})

test('a pop of a partition sees only it', async (t) => {
  const { push, get } = await serve(t)
  await push('q', [1], 'a')
  await push('q', [2], 'b/ü')
  const path = `/api/v1/pop/queue/q/partition/${encodeURIComponent('b/ü')}?consumerGroup=g&subscriptionMode=all`
  const { json } = await get(path)
  assert.deepEqual(dataOf(json), [2])
  assert.equal(json.partition, 'b/ü')
  assert.equal((await get('/api/v1/pop/queue/q/partition/none?consumerGroup=g')).status, 204)
})

test('a lapsed lease delivers again from the cursor and counts the delivery', async (t) => {
  const { push, pop } = await serve(t)
  await push('q', [1])
  assert.equal((await pop('q', 'consumerGroup=g&leaseSeconds=1')).json.messages[0].deliveryAttempt, 1)
  let again: Untyped = null
  await waitFor('the lease to lapse', async () => {
    const reply = await pop('q', 'consumerGroup=g')
    again = reply.json
    return reply.status === 200
  })
  assert.equal(again.messages[0].deliveryAttempt, 2)
})

test('autoAck and commitOnDelivery commit at delivery and hold no lease', async (t) => {
  const { push, pop } = await serve(t)
  await push('q', [1, 2])
  const first = await pop('q', 'consumerGroup=g&batch=1&autoAck=true')
  assert.equal(first.json.leaseId, '')
  assert.equal(first.json.messages[0].leaseId, '')
  const second = await pop('q', 'consumerGroup=g&batch=1&commitOnDelivery=true')
  assert.deepEqual(dataOf(second.json), [2])
  assert.equal((await pop('q', 'consumerGroup=g')).status, 204)
})

test('a new group begins at new, and a pop that found nothing has recorded that', async (t) => {
  const { push, get } = await serve(t)
  await push('q', ['before'])
  assert.equal((await get('/api/v1/pop/queue/q?consumerGroup=g')).status, 204)
  await push('q', ['after'])
  await push('q', ['elsewhere'], 'made-later')
  const { json } = await get('/api/v1/pop/queue/q?consumerGroup=g&partitions=5&subscriptionMode=all')
  assert.deepEqual(new Set(dataOf(json)), new Set(['after', 'elsewhere']))
})

test('the default mode is a setting', async (t) => {
  const { push, get } = await serve(t, { defaultSubscriptionMode: 'all' })
  await push('q', ['before'])
  assert.equal((await get('/api/v1/pop/queue/q?consumerGroup=g')).status, 200)
})

test('all and its alias read everything; an instant begins there', async (t) => {
  const { push, get, pop } = await serve(t)
  await push('q', [1])
  const { json } = await pop('q', 'consumerGroup=look')
  await push('q', [2])
  const later = (await pop('q', 'consumerGroup=look2')).json.messages[1].createdAt
  assert.ok(json.messages[0].createdAt < later)
  const from = await get(`/api/v1/pop/queue/q?consumerGroup=a&subscriptionFrom=${encodeURIComponent(later)}`)
  assert.deepEqual(dataOf(from.json), [2])
  const alias = await get('/api/v1/pop/queue/q?consumerGroup=b&subscriptionMode=from_beginning')
  assert.deepEqual(dataOf(alias.json), [1, 2])
  assert.equal((await get('/api/v1/pop/queue/q?consumerGroup=c&subscriptionMode=new-only')).status, 204)
  assert.equal((await get('/api/v1/pop/queue/q?consumerGroup=d&subscriptionFrom=now&subscriptionMode=all')).status, 204)
})

test('unknown modes, unreadable times and numbers out of range are 400', async (t) => {
  const { get, sql } = await serve(t)
  const wrong = [
    'subscriptionMode=sometimes',
    'subscriptionMode=2026-13-45',
    'subscriptionFrom=2026-13-45',
    'subscriptionFrom=2026-02-30T00:00:00Z',
    'subscriptionFrom=yesterday',
    'batch=-1',
    'batch=0',
    'batch=1000000000',
    'batch=1.5',
    'batch=ten',
    'batch=',
    'partitions=0',
    'partitions=65',
    'wait=yes',
    'timeout=-1',
    'timeout=99999999999',
    'timeout=NaN',
    'leaseSeconds=1e3',
    'leaseSeconds=99999999999',
    'autoAck=1',
    'batch=1&batch=2',
    'consumerGroup=',
  ]
  for (const query of wrong) {
    const { status, json } = await get(`/api/v1/pop/queue/q?${query}`)
    assert.equal(status, 400, query)
    assert.equal(json.code, 'bad_request', query)
    assert.ok(json.error.includes(query.split('=')[0] ?? ''), `${query}: ${json.error}`)
  }
  assert.deepEqual(await sql('select 1 from lockstep.consumer_group'), [])
  assert.equal((await get('/api/v1/pop/queue/q?leaseSeconds=0&unknown=1&autopilot=true')).status, 204)
})

test('a long poll is woken by a push at once', async (t) => {
  const { push, pop } = await serve(t)
  await pop('q', 'consumerGroup=g')
  const parked = pop('q', 'consumerGroup=g&wait=true&timeout=20000')
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  const pace = await paceOf({ push, pop })
  const pushedAt = performance.now()
  await push('q', ['woken'])
  const { json } = await parked
  assert.deepEqual(dataOf(json), ['woken'])
  assert.ok(performance.now() - pushedAt < 500 + 10 * pace, 'the bell, not the pause')
})

test('a long poll that finds nothing is 204 when its time is over', async (t) => {
  const { pop } = await serve(t)
  const startedAt = performance.now()
  const { status } = await pop('q', 'wait=true&timeout=300')
  const took = performance.now() - startedAt
  assert.equal(status, 204)
  assert.ok(took >= 290 && took < 20_000, `${took} ms`)
})

test('a long poll gets a message whose lease lapses or is handed back meanwhile', async (t) => {
  const { push, pop, post } = await serve(t)
  await push('q', [1])
  const held = await pop('q', 'consumerGroup=g&leaseSeconds=2')
  const parked = pop('q', 'consumerGroup=g&wait=true&timeout=20000')
  await post('/api/v1/ack', {
    transactionId: held.json.messages[0].transactionId,
    partitionId: held.json.partitionId,
    leaseId: held.json.leaseId,
    consumerGroup: 'g',
    status: 'retry',
  })
  assert.deepEqual(dataOf((await parked).json), [1])
})

test('of many long polls on one partition one is served and the order is kept', async (t) => {
  const { push, pop, post } = await serve(t)
  const seen: number[] = []
  const stop = new AbortController()
  const consumers = Array.from({ length: 10 }, async () => {
    while (!stop.signal.aborted) {
      const { status, json } = await pop('q', 'consumerGroup=g&batch=1&wait=true&timeout=500')
      if (status !== 200) continue
      seen.push(json.messages[0].data)
      await post('/api/v1/ack', {
        transactionId: json.messages[0].transactionId,
        partitionId: json.partitionId,
        leaseId: json.leaseId,
        consumerGroup: 'g',
      })
    }
  })
  for (let i = 0; i < 40; i++) await push('q', [i])
  await waitFor('all forty', () => seen.length === 40)
  stop.abort()
  await Promise.all(consumers)
  assert.deepEqual(
    seen,
    Array.from({ length: 40 }, (_, i) => i),
  )
})

test('a pop through another broker is woken by a hint', async (t) => {
  const first = await serve(t)
  const { createBroker } = await import('../../src/broker/create-broker.ts')
  const second = createBroker({ connectionString: first.db.connectionString, port: 0, connections: 3 })
  await second.start()
  t.after(() => second.stop())
  const { exchange } = await import('./served.ts')
  const query = '?consumerGroup=g&subscriptionMode=all&wait=true&timeout=20000'
  const parked = exchange(second.address, 'GET', `/api/v1/pop/queue/q${query}`)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  const pace = await paceOf(first)
  const pushedAt = performance.now()
  await first.push('q', [1])
  assert.equal((await parked).status, 200)
  assert.ok(performance.now() - pushedAt < 900 + 10 * pace)
})

test('a push of five megabytes under the longest names wakes a pop through another broker', async (t) => {
  const served = await serveSpread(t)
  const [queue, partition] = ['q', 'p'].map((letter) => letter.repeat(LIMITS.nameBytes))
  const payload = 'x'.repeat(5 * 1024 * 1024)
  for (let n = 0; n < 4; n++) {
    const parked = served.get(
      `/api/v1/pop/queue/${queue}/partition/${partition}?subscriptionMode=all&autoAck=true&wait=true&timeout=60000`,
    )
    const pushed = await served.post('/api/v1/push', { items: [{ queue, partition, payload }] })
    assert.deepEqual([pushed.status, pushed.json[0].status], [201, 'queued'])
    const { status, json } = await parked
    assert.deepEqual([status, json.messages[0].data.length], [200, payload.length])
  }
})

test('a pop brings eight megabytes at most, however many messages it asks for, and all pops are served in turn', async (t) => {
  const { post, pop } = await serve(t)
  const payload = JSON.stringify('x'.repeat(2 * 1024 * 1024 - 2))
  for (let i = 0; i < 24; i += 4) {
    const items = [0, 1, 2, 3].map((k) => `{"queue":"q","partition":"p${i + k}","payload":${payload}}`)
    assert.equal((await post('/api/v1/push', `{"items":[${items.join(',')}]}`)).status, 201)
  }
  const one = await pop('q', 'consumerGroup=one&batch=100&partitions=64')
  assert.equal(one.json.messages.length, 4)
  const huge = `{"queue":"single","payload":${JSON.stringify('y'.repeat(10 * 1024 * 1024))}}`
  await post('/api/v1/push', `{"items":[${huge},${huge}]}`)
  assert.equal((await pop('single', 'consumerGroup=g')).json.messages.length, 1)
  const pops = await Promise.all(Array.from({ length: 6 }, () => pop('q', 'consumerGroup=g&batch=100&partitions=64')))
  assert.deepEqual(
    pops.map(({ status, json }) => (status === 200 ? json.messages.length : 0)),
    [4, 4, 4, 4, 4, 4],
  )
})

test('a discovery pop takes every matching queue by priority under one lease', async (t) => {
  const { post, push, get } = await serve(t)
  await post('/api/v1/configure', { queue: 'low', namespace: 'shop', options: { priority: 1 } })
  await post('/api/v1/configure', { queue: 'high', namespace: 'shop', options: { priority: 9 } })
  await post('/api/v1/configure', { queue: 'other', namespace: 'else', task: 'ship' })
  await push('low', ['low'])
  await push('high', ['high'])
  await push('other', ['other'])
  const { json } = await get('/api/v1/pop?namespace=shop&consumerGroup=g&subscriptionMode=all')
  assert.equal(json.queue, '')
  assert.deepEqual(dataOf(json), ['high', 'low'])
  assert.equal(new Set(json.messages.map((message: Untyped) => message.leaseId)).size, 1)
  const task = await get('/api/v1/pop?task=ship&consumerGroup=g&subscriptionMode=all')
  assert.deepEqual(dataOf(task.json), ['other'])
  assert.equal((await get('/api/v1/pop?namespace=none')).status, 204)
  const neither = await get('/api/v1/pop')
  assert.equal(neither.status, 400)
  assert.equal(neither.json.success, false)
  assert.equal(neither.json.error, 'namespace or task is required')
  assert.deepEqual(neither.json.messages, [])
})
