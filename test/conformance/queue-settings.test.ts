// The queue itself on both ways: created, changed, deleted, and a group of it moved to another place.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'

onEveryWay('create answers the complete options, and keeps what it does not name', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  const made = await queue.config({ leaseTime: 7, retryLimit: 1 }).create({ namespace: 'shop', task: 'orders' })
  assert.equal(made.queue, named('q'))
  assert.deepEqual([made.namespace, made.task], ['shop', 'orders'])
  assert.deepEqual([made.options.leaseTime, made.options.retryLimit, made.options.dedupWindowSeconds], [7, 1, 3600])
  const changed = await queue.config({ retryLimit: 5 }).create()
  assert.deepEqual([changed.namespace, changed.options.leaseTime, changed.options.retryLimit], ['shop', 7, 5])
  const back = await queue.config({ leaseTime: null }).create()
  assert.equal(back.options.leaseTime, 300)
  const replaced = await queue.create({ replace: true })
  assert.equal(replaced.options.retryLimit, 3)
})

onEveryWay('an option that does not exist or does not fit is refused', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  // @ts-expect-error a misspelt option
  assert.throws(() => queue.config({ leaseTimes: 7 }), { code: 'bad_request' })
  await assert.rejects(queue.config({ leaseTime: 0 }).create(), { code: 'bad_request' })
  await assert.rejects(queue.config({ leaseTime: 1.5 }).create(), { code: 'bad_request' })
})

onEveryWay(
  'a deleted queue is gone with its messages and its groups, and its name is free',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('q'))
    await queue.push([{ data: 1, transactionId: 'k' }, { data: 2 }])
    await queue
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(1)
      .consume(async () => {})
    assert.deepEqual(await queue.delete(), { existed: true })
    assert.deepEqual(await queue.delete(), { existed: false })
    assert.deepEqual(await queue.pop(), [])
    const [again] = await queue.push({ data: 'new', transactionId: 'k' })
    assert.equal(again?.status, 'queued')
    assert.deepEqual(
      (await queue.group('g').subscriptionMode('all').pop()).map((message) => message.data),
      ['new'],
    )
  },
)

onEveryWay(
  'a group is moved to the start, to the end and to an instant, and its leases end',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('q'))
    const group = queue.group('g').subscriptionMode('all')
    await queue.push([{ data: 1 }, { data: 2 }])
    const [first] = await group.pop()
    assert.ok(first)
    await group.seek('end')
    const late = await lockstep.ack(first)
    assert.equal(late.success, false)
    assert.deepEqual(await group.pop(), [])
    await group.seek('start')
    assert.deepEqual(
      (await group.pop()).map((message) => message.data),
      [1, 2],
    )
    await queue.push({ data: 3 })
    const [third] = await queue
      .group('look')
      .subscriptionMode('all')
      .pop()
      .then((messages) => messages.slice(-1))
    await group.seek({ timestamp: third?.createdAt ?? '' })
    assert.deepEqual(
      (await group.pop()).map((message) => message.data),
      [3],
    )
    await group.seek(new Date(0))
    assert.equal((await group.pop()).length, 3)
    await assert.rejects(lockstep.queue(named('nobody')).group('g').seek('end'), { code: 'not_found' })
    // @ts-expect-error no place of a queue
    await assert.rejects(group.seek('middle'), { code: 'bad_request' })
  },
)

onEveryWay('a forgotten group begins anew', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  const group = queue.group('g').subscriptionMode('all')
  await queue.push({ data: 1 })
  await group
    .each()
    .limit(1)
    .consume(async () => {})
  assert.deepEqual(await group.pop(), [])
  await group.forgetGroup()
  assert.deepEqual(
    (await group.pop()).map((message) => message.data),
    [1],
  )
})
