// The client over HTTP with its connection cut after the broker had the request and before the answer came: every push is stored
// once, every commit applied once and answered with its first result, every ack told as it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { createTestDatabase } from '../../src/testing/database.ts'
import { cuttingProxy } from '../kit/cutting-proxy.ts'

const CALLS = 12

test('lost answers of pushes, commits and acks are told by the repeat as they were, and nothing is applied twice', async (t) => {
  const { connectionString, database } = await createTestDatabase(t)
  const broker = createBroker({ connectionString, port: 0 })
  await broker.start()
  const proxy = await cuttingProxy(broker.address)
  const lockstep = new Lockstep({ url: proxy.url, logger: { warn() {} } })
  t.after(async () => {
    await lockstep.close()
    await proxy.stop()
    await broker.stop()
  })
  const numbers = Array.from({ length: CALLS }, (_, n) => n)

  proxy.cut(CALLS)
  const pushed = await Promise.all(numbers.map(async (n) => lockstep.queue('q').partition(`p${n}`).push({ data: n })))
  assert.equal(proxy.cuts, CALLS)
  for (const [outcome] of pushed) assert.ok(outcome?.status === 'queued' || outcome?.status === 'duplicate')
  const [messages] = await database.rows('select count(*), count(distinct partition_id) from lockstep.message', [])
  assert.deepEqual(messages, [String(CALLS), String(CALLS)])

  const leased = await lockstep.queue('q').group('g').subscriptionMode('all').partitions(64).pop()
  assert.equal(leased.length, CALLS)
  proxy.cut(CALLS)
  const results = await Promise.all(
    leased.map(async (message) =>
      lockstep
        .transaction()
        .ack(message)
        .kv.incr('c', `n-${message.partition}`, 1, { ttl: '1d' })
        .queue('out')
        .partition(message.partition)
        .push({ data: message.data })
        .commit(),
    ),
  )
  assert.equal(proxy.cuts, 2 * CALLS)
  for (const result of results) {
    assert.ok(result.success)
    const counter = result.results[2]
    assert.ok(counter?.type === 'kv' && counter.op === 'incr' && counter.applied)
    assert.equal(counter.value, 1)
  }
  const out = await lockstep.queue('out').group('g').subscriptionMode('all').partitions(64).pop()
  assert.deepEqual(
    out.map((message) => message.data).toSorted((a, b) => a - b),
    numbers,
  )

  proxy.cut(1)
  const acked = await lockstep.ack(out)
  assert.equal(proxy.cuts, 2 * CALLS + 1)
  for (const outcome of acked) assert.ok(outcome.success && outcome.leaseReleased)
  assert.deepEqual(await lockstep.queue('out').group('g').partitions(64).pop(), [])
})
