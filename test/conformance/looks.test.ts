// Queues and messages looked at on both ways: counts, and what became of each message, without claiming any.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'

onEveryWay('queues are listed by namespace with their counts, one with its partitions', async ({ lockstep, named }) => {
  const [name, namespace] = [named('q'), named('ns')]
  const queue = lockstep.queue(name)
  await queue.config({ leaseTime: 33 }).create({ namespace, task: 't' })
  await lockstep.queue(named('other')).create()
  await queue.partition('a').push([{ data: 1 }, { data: 2 }])
  await queue.partition('b').push([{ data: 3 }])
  const [claimed] = await queue.group('g').subscriptionMode('all').partition('a').batch(1).pop()
  assert.ok(claimed !== undefined)
  await lockstep.ack(claimed, 'dlq')

  const [listed, ...others] = await lockstep.queues.list({ namespace })
  assert.ok(listed !== undefined && others.length === 0)
  assert.deepEqual(
    [listed.queue, listed.namespace, listed.task, listed.partitions, listed.options.leaseTime],
    [name, namespace, 't', 2, 33],
  )
  assert.deepEqual(listed.messages, { total: 3, pending: 2, processing: 0, completed: 1, deadLetter: 1 })
  const shown = await lockstep.queues.get(name)
  assert.ok(shown !== null)
  const { partitionList, ...overview } = shown
  assert.deepEqual(overview, listed)
  assert.deepEqual(
    partitionList.map((one) => [one.partition, one.partitionId, one.cursor, one.messages.total]),
    [
      ['a', claimed.partitionId, 1, 2],
      ['b', partitionList[1]?.partitionId, 0, 1],
    ],
  )
  assert.ok(partitionList[0]?.oldestMessage !== null && partitionList[0]?.createdAt.endsWith('Z'))
  assert.deepEqual(await lockstep.queues.list({ namespace: named('none') }), [])
  assert.equal(await lockstep.queues.get(named('nowhere')), null)
  assert.ok((await lockstep.queues.list()).length >= 2)
})

onEveryWay('messages are listed newest first and each tells what became of it', async ({ lockstep, named }) => {
  const queue = named('q')
  const digits = '{"big":9007199254740993}'
  await lockstep.queue(queue).push([{ data: { n: 0 }, transactionId: 'm-0', traceId: 't' }])
  await lockstep.queue(queue).push([{ data: { n: 1 }, transactionId: 'm-1' }])
  await lockstep.queue(queue).push([{ data: null, transactionId: 'm-2' }])
  const [message, second] = await lockstep.queue(queue).group('g').subscriptionMode('all').batch(2).pop()
  assert.ok(message !== undefined && second !== undefined)
  await lockstep.ack(message)

  const page = await lockstep.messages.list({ queue, limit: 2 })
  assert.deepEqual(
    [page.messages.map((one) => [one.transactionId, one.data, one.text]), page.nextOffset],
    [
      [
        ['m-2', null, 'null'],
        ['m-1', { n: 1 }, '{"n":1}'],
      ],
      2,
    ],
  )
  const last = await lockstep.messages.list({ queue, limit: 2, offset: 2, from: new Date(0) })
  assert.deepEqual([last.messages.map((one) => one.traceId), last.nextOffset], [['t'], null])
  const held = await lockstep.messages.list({ queue, status: 'processing' })
  assert.deepEqual(
    held.messages.map((one) => one.transactionId),
    ['m-1'],
  )

  const done = await lockstep.messages.get(message)
  assert.ok(done !== null)
  assert.deepEqual(
    [done.id, done.status, done.data, done.queueOptions.retryLimit],
    [message.id, 'completed', { n: 0 }, 3],
  )
  assert.deepEqual(done.consumerGroups, [{ group: 'g', consumed: true, leaseExpiresAt: null }])
  const held1 = await lockstep.messages.get(second)
  assert.deepEqual([held1?.status, held1?.consumerGroups[0]?.leaseExpiresAt === null], ['processing', false])
  assert.equal(await lockstep.messages.get({ ...message, transactionId: 'm-9' }), null)
  await lockstep.queue(queue).push({ data: JSON.parse(digits), transactionId: 'm-3' })
  await assert.rejects(lockstep.messages.list({ queue, limit: 0 }), { code: 'bad_request' })
  await assert.rejects(lockstep.messages.get({ partitionId: message.partitionId, transactionId: '' }), {
    code: 'bad_request',
  })
})

onEveryWay('the dead letter of a message is put back or removed by the message', async ({ lockstep, named }) => {
  const queue = named('q')
  await lockstep.queue(queue).push([
    { data: 0, transactionId: 'm-0' },
    { data: 1, transactionId: 'm-1' },
  ])
  const group = lockstep.queue(queue).group('g').subscriptionMode('all').batch(1)
  const [first] = await group.pop()
  assert.ok(first !== undefined)
  assert.deepEqual(await lockstep.messages.retry(first), { success: false, reason: 'gone' })
  assert.deepEqual(await lockstep.messages.delete(first), { deleted: 0 })
  await lockstep.ack(first, 'dlq', { error: 'no' })
  const dead = await lockstep.messages.get(first)
  assert.deepEqual([dead?.status, dead?.errorMessage], ['dead_letter', 'no'])
  const back = await lockstep.messages.retry(first)
  assert.ok(back.success && back.queue === queue)
  const [second] = await group.pop()
  assert.ok(second !== undefined)
  await lockstep.ack(second, 'dlq')
  assert.deepEqual(await lockstep.messages.delete(second), { deleted: 1 })
  assert.equal((await lockstep.deadLetters.list({ queue })).messages.length, 0)
})
