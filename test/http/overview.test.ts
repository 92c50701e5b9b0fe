// WIRE section 12: the reads for people and dashboards tell what was pushed, delivered, acked, failed and is behind.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { jobNamed } from '../kit/job-named.ts'
import { exchange, serve } from './served.ts'

test('counts by queue, namespace and task, lag and rates, over what really happened', async (t) => {
  const { get, post, push, pop, sql } = await serve(t)
  await post('/api/v1/configure', { queue: 'shop.orders', namespace: 'shop', task: 'orders' })
  await post('/api/v1/configure', { queue: 'shop.bills', namespace: 'shop', task: 'bills' })
  await push('shop.orders', [1, 2, 3], 'acme')
  await push('shop.bills', [4])
  const taken = (await pop('shop.orders', 'consumerGroup=g&batch=2')).json.messages
  const [one, two] = taken
  const ack = (message: Untyped, status: string) =>
    post('/api/v1/ack', { ...message, consumerGroup: 'g', status, error: 'card declined\nstack' })
  await ack(one, 'completed')
  await ack(two, 'dlq')

  const overview = (await get('/api/v1/resources/overview')).json
  assert.deepEqual([overview.queues, overview.partitions, overview.namespaces, overview.tasks], [2, 2, 1, 2])
  assert.deepEqual(overview.messages, {
    total: 4,
    pending: 2,
    processing: 0,
    completed: 2,
    failed: null,
    deadLetter: 1,
  })
  assert.equal(overview.lag.total, 1)
  assert.deepEqual(overview.lag.offset, { avg: 1, min: 1, max: 1 })
  assert.equal(overview.lag.time.max, overview.lag.maxSeconds)
  assert.deepEqual((await get('/api/v1/resources/namespaces')).json, {
    namespaces: [{ namespace: 'shop', queues: 2, partitions: 2, messages: { total: 4, pending: 2 } }],
  })
  assert.deepEqual(
    (await get('/api/v1/resources/tasks')).json.tasks.map((each: Untyped) => [each.task, each.messages.total]),
    [
      ['bills', 1],
      ['orders', 3],
    ],
  )

  const listed = (await get('/api/v1/status/queues?limit=1&offset=1')).json
  assert.deepEqual(
    [listed.queues.map((queue: Untyped) => queue.name), listed.pagination],
    [['shop.orders'], { limit: 1, offset: 1, total: 2 }],
  )
  const queue = (await get('/api/v1/status/queues/shop.orders')).json
  assert.deepEqual(
    [queue.queue.name, queue.queue.config, queue.config.leaseTime, queue.totals.total, queue.partitions.length],
    ['shop.orders', queue.config, 300, 3, 1],
  )
  assert.equal((await get('/api/v1/status/queues/none')).status, 404)

  const letters = (await get('/api/v1/analytics/dlq-signatures')).json.signatures
  assert.deepEqual(
    letters.map((each: Untyped) => [each.queue, each.group, each.error, each.letters]),
    [['shop.orders', 'g', 'card declined', 1]],
  )
  await sql(`update lockstep.message set created_at = created_at - interval '2 hours'`)
  const lagging = (await get('/api/v1/consumer-groups/lagging')).json
  assert.deepEqual(
    lagging.map((each: Untyped) => [each.consumer_group, each.queue_name, each.offset_lag, each.lag_hours > 1.9]),
    [['g', 'shop.orders', 1, true]],
  )
  assert.deepEqual((await get('/api/v1/consumer-groups/lagging?minLagSeconds=100000')).json, [])
  assert.deepEqual(
    (await get('/api/v1/analytics/queue-lag')).json.groups.map((each: Untyped) => [each.group, each.totalLag]),
    [['g', 1]],
  )
  assert.equal((await get('/api/v1/analytics/partition-liveness')).json.partitions.length, 2)
  assert.equal((await get('/api/v1/analytics/retention')).json.queues.length, 2)
  assert.equal((await get('/api/v1/analytics/workload')).json.queues[0].pending, 1)
  assert.equal((await get('/api/v1/analytics/queue-parked-replicas')).json.parkedPolls, 0)
  const stats = (await get('/api/v1/analytics/postgres-stats')).json
  assert.ok(stats.databaseBytes > 0 && stats.tables.some((table: Untyped) => table.table === 'message'))
  const system = (await get('/api/v1/analytics/system-metrics')).json
  assert.ok(system.memory.rss > 0)
  assert.deepEqual(
    [system.timeRange.to, system.bucketMinutes, system.pointCount, system.replicas.length],
    [system.timestamp, 1, 1, 1],
  )
  const workers = (await get('/api/v1/analytics/worker-metrics')).json
  assert.deepEqual(workers.totals, { pushed: 4, delivered: 2, acked: 1, failed: 1 })
  assert.deepEqual(
    [workers.summary, workers.pointCount, workers.workers.length, workers.timeRange.to],
    [workers.totals, workers.timeSeries.length, 1, workers.timeSeries.at(-1).at],
  )
  assert.equal(workers.bucketMinutes, 1)
  assert.ok(Array.isArray(workers.queues))
  assert.deepEqual((await get('/api/v1/messages?queue=shop.orders')).json.mode, {
    hasQueueMode: false,
    busGroupsCount: 1,
    type: 'bus',
  })
  await pop('shop.orders')
  assert.equal((await get('/api/v1/messages?queue=shop.orders')).json.mode.type, 'hybrid')
  assert.equal((await get('/api/v1/messages?queue=shop.bills')).json.mode.type, 'queue')
  assert.deepEqual((await post('/api/v1/stats/refresh', {})).json.refreshed, false)
  assert.equal((await get('/api/v1/status/buffers')).json.dbHealthy, true)
})

test('what brokers did is written when they stop, added up, shown per bucket, and forgotten after a week', async (t) => {
  const { get, db, url, sql } = await serve(t)
  for (let turn = 0; turn < 2; turn++) {
    const other = createBroker({ connectionString: db.connectionString, port: 0, connections: 3, upkeep: false })
    await other.start()
    await exchange(other.address, 'POST', '/api/v1/push', {
      items: [
        { queue: 'q', payload: 1 },
        { queue: 'q', payload: 2 },
      ],
    })
    await exchange(other.address, 'GET', '/api/v1/pop/queue/q?autoAck=true&batch=1')
    await other.stop()
  }
  const total = (points: Untyped[], field: string): number => points.reduce((sum, point) => sum + point[field], 0)
  const status = (await get('/api/v1/status')).json
  assert.deepEqual([total(status.throughput, 'ingested'), total(status.throughput, 'processed')], [4, 2])
  assert.equal(status.pointCount, status.throughput.length)
  const days = (await get('/api/v1/status/analytics?interval=day')).json
  assert.equal(total(days.dataPoints, 'messages'), 4)
  assert.deepEqual((await get('/api/v1/analytics/queue-ops')).json.queues, [
    { queue: 'q', pushed: 4, delivered: 2, acked: 0, failed: 0 },
  ])
  const wrong = await exchange(url, 'GET', '/api/v1/status?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z')
  assert.deepEqual([wrong.status, wrong.json.error], [400, 'to must be later than from'])
  await sql(`update lockstep.activity set minute = minute - interval '8 days'`)
  const { done } = await jobNamed('remove_activity').step(db.database)
  assert.ok(done >= 1)
  assert.deepEqual(await sql('select * from lockstep.activity'), [])
})
