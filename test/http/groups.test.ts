// WIRE sections 11 and 12: groups deleted and moved, dead letters and single messages looked up, queues listed, metrics.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, serveSpread } from './served.ts'

const dataOf = (json: Untyped): unknown[] => json.messages.map((message: Untyped) => message.data)

test('deleting a group lets its name begin anew, on one queue or on all', async (t) => {
  const { push, pop, send } = await serveSpread(t)
  await push('one', [1])
  await push('two', [2])
  const all = 'consumerGroup=g&autoAck=true'
  assert.deepEqual(dataOf((await pop('one', all)).json), [1])
  assert.deepEqual(dataOf((await pop('two', all)).json), [2])
  assert.equal((await pop('one', all)).status, 204)
  const one = await send('DELETE', '/api/v1/consumer-groups/g/queues/one?deleteMetadata=true')
  assert.equal(one.status, 200)
  assert.deepEqual(one.json, {
    success: true,
    consumerGroup: 'g',
    queueName: 'one',
    deletedPartitions: 1,
    metadataDeleted: true,
  })
  assert.deepEqual(dataOf((await pop('one', all)).json), [1])
  assert.equal((await pop('two', all)).status, 204)
  assert.equal((await send('DELETE', '/api/v1/consumer-groups/g')).json.success, true)
  assert.deepEqual(dataOf((await pop('two', all)).json), [2])
  const unknown = await send('DELETE', '/api/v1/consumer-groups/nobody')
  assert.deepEqual([unknown.status, unknown.json.success], [200, true])
})

test('a seek to a time delivers everything from there at once, also after polls that found nothing', async (t) => {
  const { push, pop, post } = await serveSpread(t)
  for (const partition of ['a', 'b', 'c']) await push('q', [`${partition}1`], partition)
  const look = await pop('q', 'consumerGroup=look&partitions=9')
  const [first] = look.json.messages.map((message: Untyped) => message.createdAt).toSorted()
  const query = 'consumerGroup=g&partitions=9&autoAck=true'
  assert.equal((await pop('q', query)).json.messages.length, 3)
  for (let i = 0; i < 3; i++) assert.equal((await pop('q', query)).status, 204)
  const path = '/api/v1/consumer-groups/g/queues/q/seek'
  const sought = await post(path, { timestamp: first })
  assert.equal(sought.status, 200)
  assert.deepEqual(
    [sought.json.success, sought.json.updated, sought.json.seekToEnd, sought.json.targetTimestamp],
    [true, true, false, first],
  )
  assert.equal((await pop('q', query)).json.messages.length, 3)
  assert.equal((await post(path, { timestamp: '2999-01-01T00:00:00Z' })).status, 200)
  assert.equal((await pop('q', query)).status, 204)
})

test('a seek ends the live leases and may register a group never seen', async (t) => {
  const { push, pop, post } = await serveSpread(t)
  await push('q', [1])
  const held = await pop('q', 'consumerGroup=g')
  const [message] = held.json.messages
  assert.equal((await post('/api/v1/consumer-groups/g/queues/q/seek', '')).json.seekToEnd, true)
  const { transactionId, partitionId, leaseId } = message
  const late = await post('/api/v1/ack', { transactionId, partitionId, leaseId, consumerGroup: 'g' })
  assert.equal(late.json[0].success, false)
  assert.equal((await pop('q', 'consumerGroup=g')).status, 204)
  await post('/api/v1/consumer-groups/new/queues/q/seek', { toEnd: true })
  assert.equal((await pop('q', 'consumerGroup=new')).status, 204)
})

test('a seek without a target, to a bad time or of no queue is refused', async (t) => {
  const { push, post } = await serveSpread(t)
  await push('q', [1])
  const path = '/api/v1/consumer-groups/g/queues/q/seek'
  const neither = await post(path, {})
  assert.deepEqual(
    [neither.status, neither.json.success, neither.json.error],
    [400, false, 'Must specify toEnd=true or a timestamp'],
  )
  assert.equal((await post(path, { timestamp: '2026-13-45' })).status, 400)
  assert.equal((await post(path, { timestamp: 5 })).status, 400)
  const both = await post(path, { timestamp: '2026-01-01T00:00:00Z', toEnd: true })
  assert.equal(both.status, 400)
  assert.match(both.json.error, /^toEnd must be false or absent beside a timestamp/)
  const unknown = await post('/api/v1/consumer-groups/g/queues/none/seek', { toEnd: true })
  assert.deepEqual([unknown.status, unknown.json.error], [404, 'Queue not found or has no partitions'])
})

test('one partition may be moved by itself', async (t) => {
  const { push, pop, post } = await serveSpread(t)
  await push('q', [1], 'a')
  await push('q', [2], 'b')
  const query = 'consumerGroup=g&partitions=9&autoAck=true'
  await pop('q', query)
  const path = '/api/v1/consumer-groups/g/queues/q/partitions/a/seek'
  const sought = await post(path, { timestamp: '2020-01-01T00:00:00Z' })
  assert.deepEqual([sought.status, sought.json.partitionName, sought.json.updated], [200, 'a', true])
  assert.deepEqual(dataOf((await pop('q', query)).json), [1])
})

test('dead letters are listed newest first, filtered and paged', async (t) => {
  const { push, pop, post, get } = await serveSpread(t)
  const ids = await push('q', ['a', 'b', 'c'])
  for (const [index, transactionId] of ids.entries()) {
    const { json } = await pop('q', 'consumerGroup=g&batch=1')
    const { partitionId, leaseId } = json
    const item = { transactionId, partitionId, leaseId, consumerGroup: 'g', status: 'dlq', error: `reason ${index}` }
    await post('/api/v1/ack', item)
  }
  const { status, json } = await get('/api/v1/dlq?queue=q')
  assert.equal(status, 200)
  assert.deepEqual(dataOf(json), ['c', 'b', 'a'])
  assert.deepEqual([json.total, json.pagination], [3, { limit: 100, offset: 0 }])
  const [letter] = json.messages
  for (const key of ['id', 'partitionId', 'failedAt', 'createdAt', 'retryCount', 'producerSub']) {
    assert.ok(key in letter, key)
  }
  assert.deepEqual([letter.consumerGroup, letter.partition, letter.queue], ['g', 'Default', 'q'])
  assert.match(letter.errorMessage, /reason 2/)
  assert.deepEqual(dataOf((await get('/api/v1/dlq?limit=1&offset=1')).json), ['b'])
  assert.deepEqual(dataOf((await get('/api/v1/dlq?consumerGroup=other')).json), [])
  assert.deepEqual(dataOf((await get('/api/v1/dlq?queue=none')).json), [])
  assert.deepEqual(dataOf((await get(`/api/v1/dlq?from=${letter.failedAt}`)).json), ['c'])
  for (const query of ['limit=0', 'limit=x', 'offset=-1', 'from=soon', 'limit=1000000']) {
    assert.equal((await get(`/api/v1/dlq?${query}`)).status, 400, query)
  }
})

test('one message is found with what its groups made of it', async (t) => {
  const { push, pop, post, get } = await serveSpread(t)
  const [id] = await push('a.b.c', [{ x: 1 }], 'p')
  const { json: batch } = await pop('a.b.c', 'consumerGroup=g')
  const path = `/api/v1/messages/${batch.partitionId}/${id}`
  const leased = await get(path)
  assert.equal(leased.status, 200)
  const found = leased.json
  assert.deepEqual(
    [found.queue, found.partition, found.queuePath, found.namespace, found.task, found.transactionId, found.status],
    ['a.b.c', 'p', 'a.b.c/p', 'a', 'b', id, 'processing'],
  )
  assert.deepEqual([found.payload, found.data], [{ x: 1 }, { x: 1 }])
  assert.equal(found.queueConfig.retryLimit, 3)
  assert.equal(found.consumerGroups[0].name, 'g')
  assert.equal(found.consumerGroups[0].consumed, false)
  assert.match(found.consumerGroups[0].leaseExpiresAt, /Z$/)
  await post('/api/v1/ack', {
    transactionId: id,
    partitionId: batch.partitionId,
    leaseId: batch.leaseId,
    consumerGroup: 'g',
  })
  const done = await get(path)
  assert.deepEqual([done.json.status, done.json.consumerGroups[0].consumed], ['completed', true])
  for (const unknown of [
    `/api/v1/messages/${batch.partitionId}/none`,
    '/api/v1/messages/x/y',
    '/api/v1/messages/1/y',
  ]) {
    assert.equal((await get(unknown)).status, 404, unknown)
  }
})

test('health, status and metrics are served', async (t) => {
  const { push, pop, get } = await serve(t)
  await push('q', [1])
  await pop('q')
  const health = await get('/health')
  assert.equal(health.status, 200)
  assert.deepEqual(
    [health.json.status, health.json.database, health.json.engine, typeof health.json.version],
    ['healthy', 'connected', 'lockstep', 'string'],
  )
  assert.deepEqual((await get('/status')).json, { status: 'ok', engine: 'lockstep' })
  const metrics = await get('/metrics')
  assert.ok(metrics.json.requests.total >= 3)
  const prometheus = await get('/metrics/prometheus')
  assert.match(prometheus.headers['content-type'] ?? '', /^text\/plain/)
  assert.match(
    prometheus.text,
    /lockstep_http_requests_total\{method="POST",route="\/api\/v1\/push",status="201"\} 1\n/,
  )
  assert.match(prometheus.text, /\nlockstep_push_calls_total 1\n/)
})
