// Acks and leases on both ways: read off the message, fenced by the lease, every verdict a value.
import assert from 'node:assert/strict'
import type { AckRef } from 'lockstep'
import { onEveryWay } from './every-way.ts'
import { until } from './until.ts'

onEveryWay('an ack moves the cursor of the group that the message was delivered to', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  await queue.push([{ data: 1 }, { data: 2 }, { data: 3 }])
  const g = queue.group('g').subscriptionMode('all')
  const messages = await g.pop()
  const outcome = await lockstep.ack(messages[2] ?? assert.fail(), 'completed', { group: 'g' })
  assert.deepEqual(outcome, {
    success: true,
    transactionId: messages[2]?.transactionId,
    leaseReleased: true,
    deadLettered: false,
    noop: false,
  })
  assert.deepEqual(await g.pop(), [])
  assert.equal((await queue.group('h').subscriptionMode('all').pop()).length, 3)
  assert.equal((await queue.pop()).length, 3)
})

onEveryWay(
  "an ack for another group than the message's is refused and changes nothing",
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
    await queue.push({ data: 1 })
    const [message] = await queue.pop()
    assert.ok(message)
    await assert.rejects(lockstep.ack(message, 'completed', { group: 'h' }), { code: 'bad_request' })
    await assert.rejects(lockstep.ack(message, true, { consumerGroup: 'h' }), { code: 'bad_request' })
    assert.throws(() => lockstep.transaction().ack(message, 'completed', { consumerGroup: 'h' }), {
      code: 'bad_request',
    })
    assert.equal((await lockstep.ack(message, 'completed', { consumerGroup: 'g' })).success, true)
  },
)

onEveryWay('an unknown status is refused', async ({ lockstep, named }) => {
  await lockstep.queue(named('q')).push({ data: 1 })
  const [message] = await lockstep.queue(named('q')).pop()
  assert.ok(message)
  // @ts-expect-error a status that does not exist
  await assert.rejects(lockstep.ack(message, 'done'), { code: 'bad_request' })
})

onEveryWay(
  'failed and retry bring the message back, dlq does not; true and false are completed and failed',
  async ({ lockstep, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name)
    await queue.config({ retryDelay: 0, retryLimit: 1 }).create()
    await queue.push([{ data: 1 }, { data: 2 }])
    const take = async (): Promise<AckRef & { readonly data: unknown }> => {
      const [message] = await queue.wait(true).timeout(5_000).pop()
      return message ?? assert.fail('nothing was delivered')
    }
    assert.equal((await lockstep.ack(await take(), 'retry')).success, true)
    assert.equal((await lockstep.ack(await take(), false, { error: 'first' })).success, true)
    const last = await lockstep.ack(await take(), 'failed', { error: 'no stock' })
    assert.ok(last.success)
    assert.equal(last.deadLettered, true)
    const [dead] = await sql(
      'select error, payload from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
      [name],
    )
    assert.deepEqual(dead, { error: 'no stock', payload: '1' })
    const second = await take()
    assert.equal(second.data, 2)
  },
)

onEveryWay(
  'an ack with a lapsed lease is refused as lease_lost, and the new holder is untouched',
  async ({ lockstep, another, named }) => {
    const queue = named('q')
    await lockstep.queue(queue).push({ data: 1 })
    const a = lockstep.queue(queue).group('g').subscriptionMode('all').leaseSeconds(1)
    const [first] = await a.pop()
    assert.ok(first)
    const [second] = await another().queue(queue).group('g').wait(true).timeout(10_000).pop()
    assert.ok(second)
    assert.equal(second.deliveryAttempt, 2)
    const late = await lockstep.ack(first)
    assert.ok(!late.success)
    assert.equal(late.reason, 'lease_lost')
    assert.deepEqual(await lockstep.renew(first), {
      success: false,
      leaseId: first.leaseId,
      renewed: 0,
      expiresAt: null,
    })
    assert.equal((await lockstep.ack(second)).success, true)
  },
)

onEveryWay('a renewed lease outlives its first length', async ({ lockstep, named, sql }) => {
  const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all').leaseSeconds(1)
  await queue.push({ data: 1 })
  const [message] = await queue.pop()
  assert.ok(message)
  const renewed = await lockstep.renew(message, 30)
  assert.equal(renewed.success, true)
  assert.equal(renewed.renewed, 1)
  assert.ok(renewed.expiresAt !== null)
  await until('the first length is over', async () => {
    const [row] = await sql(`select lockstep.clock() > $1::timestamptz + interval '3 seconds' as over`, [
      message.createdAt,
    ])
    return row?.['over'] === true
  })
  assert.equal((await lockstep.ack(message)).success, true)
})

onEveryWay('acks of several groups and messages are answered each in its place', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  await queue.partition('a').push({ data: 1 })
  await queue.partition('b').push({ data: 2 })
  const one = await queue.group('one').subscriptionMode('all').partitions(2).pop()
  const two = await queue.group('two').subscriptionMode('all').partitions(2).pop()
  const unknown = {
    transactionId: 'nobody',
    partitionId: one[0]?.partitionId ?? '',
    leaseId: one[0]?.leaseId,
    consumerGroup: 'one',
  }
  const outcomes = await lockstep.ack([...one, unknown, ...two])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.success),
    [true, true, false, true, true],
  )
  const refused = outcomes[2]
  assert.ok(refused !== undefined && !refused.success)
  assert.equal(refused.reason, 'rejected')
})

onEveryWay('the same ack again is no harm', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  await queue.push({ data: 1 })
  const [message] = await queue.pop()
  assert.ok(message)
  const first = await lockstep.ack(message)
  assert.deepEqual(await lockstep.ack(message), first)
})
