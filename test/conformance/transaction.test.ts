// The step on both ways: all of it or nothing, whichever order it was built in, and every rollback an answer that says why.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'

onEveryWay(
  'ack, state and push commit together, and the results stand in the order of the request',
  async ({ lockstep, named }) => {
    const source = lockstep.queue(named('in')).group('w').subscriptionMode('all')
    await source.push({ data: { orderId: 'o-1' } })
    const paid = await lockstep.kv.put('orders', named('o'), { status: 'paid' }, { ttl: '1d' })
    const [message] = await source.pop()
    assert.ok(message)
    const result = await lockstep
      .transaction()
      .kv.put('orders', named('o'), { status: 'shipping' }, { ttl: '30d', expect: paid.version, required: true })
      .queue(named('out'))
      .partition('o-1')
      .push([{ transactionId: 'ship-o-1', data: { n: 1 } }])
      .ack(message, 'completed', { consumerGroup: 'w' })
      .kv.incr('orders', named('count'), 2, { ttl: '1d' })
      .commit()
    assert.ok(result.success)
    assert.deepEqual(
      result.results.map((each) => (each.type === 'kv' ? each.op : each.type)),
      ['push', 'ack', 'put', 'incr'],
    )
    const [push, ack, put, incr] = result.results
    assert.ok(push?.type === 'push' && push.status === 'queued' && push.transactionId === 'ship-o-1')
    assert.ok(ack?.type === 'ack' && ack.leaseReleased)
    assert.ok(put?.type === 'kv' && put.op === 'put' && put.applied)
    assert.deepEqual(put.value, { status: 'shipping' })
    assert.ok(incr?.type === 'kv' && incr.op === 'incr' && incr.applied)
    assert.equal(incr.value, 2)
    assert.deepEqual(await source.pop(), [])
    const [shipped] = await lockstep.queue(named('out')).wait(true).timeout(5_000).pop()
    assert.deepEqual(shipped?.data, { n: 1 })
    assert.equal(shipped?.partition, 'o-1')
  },
)

onEveryWay('a step from an old version rolls back whole and answers with the winner', async ({ lockstep, named }) => {
  const key = named('o')
  const old = await lockstep.kv.put('orders', key, { status: 'paid' }, { ttl: '1d' })
  const now = await lockstep.kv.put('orders', key, { status: 'shipping' }, { ttl: '1d' })
  const result = await lockstep
    .transaction()
    .queue(named('out'))
    .push({ data: 1 })
    .kv.put('orders', named('other'), 1, { ttl: '1d' })
    .kv.put('orders', key, { status: 'x' }, { ttl: '1d', expect: old.version, required: true })
    .commit()
  assert.ok(!result.success && result.reason === 'kv_precondition')
  assert.deepEqual(
    [result.kvReason, result.value, result.version, result.failedIndex],
    ['version', { status: 'shipping' }, now.version, 2],
  )
  assert.equal((await lockstep.kv.get('orders', named('other'))).found, false)
  assert.deepEqual(await lockstep.queue(named('out')).pop(), [])
})

onEveryWay('a lost optional write does not undo the step', async ({ lockstep, named }) => {
  const key = named('o')
  await lockstep.kv.put('orders', key, 1, { ttl: '1d' })
  const result = await lockstep
    .transaction()
    .kv.put('orders', key, 2, { ttl: '1d', expect: 0 })
    .queue(named('out'))
    .push({ data: 1 })
    .commit()
  assert.ok(result.success)
  const put = result.results[1]
  assert.ok(put?.type === 'kv' && put.op === 'put' && !put.applied)
  assert.deepEqual([put.reason, put.value], ['exists', 1])
})

onEveryWay('a step whose lease has lapsed is refused whole as lease_lost', async ({ lockstep, another, named }) => {
  const queue = lockstep.queue(named('in')).group('g').subscriptionMode('all').leaseSeconds(1)
  await queue.push({ data: 1 })
  const [first] = await queue.pop()
  assert.ok(first)
  const [second] = await another().queue(named('in')).group('g').wait(true).timeout(10_000).pop()
  assert.ok(second)
  const late = await lockstep
    .transaction()
    .ack(first)
    .queue(named('out'))
    .push({ data: 'late' })
    .kv.put('o', named('k'), 1, { ttl: '1d' })
    .commit()
  assert.ok(!late.success)
  assert.equal(late.reason, 'lease_lost')
  assert.equal((await lockstep.kv.get('o', named('k'))).found, false)
  const right = await lockstep.transaction().ack(second).queue(named('out')).push({ data: 'right' }).commit()
  assert.equal(right.success, true)
  assert.deepEqual(
    (await lockstep.queue(named('out')).wait(true).timeout(5_000).pop()).map((message) => message.data),
    ['right'],
  )
})

onEveryWay(
  'a message that nobody knows rejects the step, and the good ack beside it is undone',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('in')).group('g').subscriptionMode('all')
    await queue.push({ data: 1 })
    const [message] = await queue.pop()
    assert.ok(message)
    const result = await lockstep
      .transaction()
      .ack([message, { ...message, transactionId: 'nobody' }])
      .commit()
    assert.ok(!result.success)
    assert.equal(result.reason, 'rejected_ack')
    assert.match(result.error, /rolled back/)
    assert.equal((await lockstep.ack(message)).success, true)
  },
)

onEveryWay(
  'a pushed id that is known rolls the step back as duplicate, and tells another body apart',
  async ({ lockstep, named }) => {
    const out = named('out')
    const [first] = await lockstep.queue(out).push({ transactionId: 'k', data: 1 })
    assert.ok(first !== undefined && 'messageId' in first)
    for (const [data, conflict] of [
      [1, false],
      [2, true],
    ] as const) {
      const result = await lockstep
        .transaction()
        .queue(out)
        .push({ transactionId: 'k', data })
        .kv.put('o', named('k'), 1, { ttl: '1d' })
        .commit()
      assert.ok(!result.success && result.reason === 'duplicate')
      assert.deepEqual([result.messageId, result.conflict], [first.messageId, conflict])
    }
    assert.equal((await lockstep.kv.get('o', named('k'))).found, false)
  },
)

onEveryWay('failed, retry and dlq are honoured inside a step', async ({ lockstep, named, sql }) => {
  const name = named('in')
  const queue = lockstep.queue(name).group('g').subscriptionMode('all')
  await queue.push({ data: 'poison' })
  const [message] = await queue.pop()
  assert.ok(message)
  const result = await lockstep
    .transaction()
    .ack(message, 'dlq', { error: 'poison' })
    .queue(named('out'))
    .push({ data: 1 })
    .commit()
  assert.ok(result.success)
  const [ack] = result.results
  assert.ok(ack?.type === 'ack' && ack.deadLettered)
  const dead = await sql(
    'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
    [name],
  )
  assert.deepEqual(dead, [{ error: 'poison' }])
})

onEveryWay(
  'the same request id answers the first result and applies nothing twice',
  async ({ lockstep, another, named }) => {
    const step = (client: typeof lockstep) =>
      client
        .transaction()
        .kv.incr('c', named('n'), 1, { ttl: '1d' })
        .queue(named('out'))
        .push({ transactionId: 'k', data: 1 })
    const requestId = named('request')
    const first = await step(lockstep).commit({ requestId })
    const again = await step(another()).commit({ requestId })
    assert.ok(first.success)
    assert.deepEqual(again, first)
    assert.equal((await lockstep.kv.get('c', named('n'))).value, 1)
    await assert.rejects(lockstep.transaction().queue(named('out')).push({ data: 2 }).commit({ requestId }), {
      code: 'request_conflict',
    })
  },
)

onEveryWay(
  'every commit carries a request id, so the same builder committed twice is two steps',
  async ({ lockstep, named }) => {
    const step = lockstep.transaction().kv.incr('c', named('n'), 1, { ttl: '1d' })
    assert.equal((await step.commit()).success, true)
    assert.equal((await step.commit()).success, true)
    assert.equal((await lockstep.kv.get('c', named('n'))).value, 2)
  },
)

onEveryWay('commit({ orThrow }) throws what it would have answered', async ({ lockstep, named }) => {
  await assert.rejects(
    lockstep.transaction().kv.check('o', named('k'), { expect: 7, required: true }).commit({ orThrow: true }),
    (error: Error & { code?: string; details?: Record<string, unknown> }) => {
      assert.equal(error.code, 'rolled_back')
      assert.equal(error.details?.['reason'], 'kv_precondition')
      assert.equal(error.details['kvReason'], 'absent')
      return true
    },
  )
})

onEveryWay(
  'a transaction never changes by what is built from it, and an empty one is refused',
  async ({ lockstep, named }) => {
    const base = lockstep.transaction().kv.put('o', named('base'), 1, { ttl: '1d' })
    base.kv.put('o', named('other'), 1, { ttl: '1d' })
    await base.commit()
    assert.equal((await lockstep.kv.get('o', named('other'))).found, false)
    await assert.rejects(lockstep.transaction().commit(), { code: 'bad_request' })
  },
)

onEveryWay('what cannot be JSON stops the step before it is sent', async ({ lockstep, named }) => {
  await assert.rejects(
    lockstep
      .transaction()
      .kv.put('o', named('k'), 1, { ttl: '1d' })
      .queue(named('out'))
      .push({ data: { n: 1n } })
      .commit(),
    { code: 'unserializable' },
  )
  assert.equal((await lockstep.kv.get('o', named('k'))).found, false)
})

onEveryWay('one key may be written once in a step', async ({ lockstep, named }) => {
  await assert.rejects(
    lockstep.transaction().kv.put('o', named('k'), 1, { ttl: '1d' }).kv.delete('o', named('k')).commit(),
    { code: 'kv_duplicate_key_in_call' },
  )
})
