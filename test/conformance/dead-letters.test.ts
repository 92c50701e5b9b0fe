// Dead letters on both ways: found, looked at, put back and removed, one and many; what is not so is a value. And groups that
// conflate, whose acks tell what they stood for.
import assert from 'node:assert/strict'
import type { Lockstep } from 'lockstep'
import { onEveryWay } from './every-way.ts'

/** So many messages that the group has given up, with their numbers as payloads and in their reasons. */
async function bury(lockstep: Lockstep, queue: string, group: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, at) => at)
  await lockstep.queue(queue).push(numbers.map((n) => ({ data: { n }, transactionId: `m-${n}` })))
  for (const n of numbers) {
    const [message] = await lockstep.queue(queue).group(group).subscriptionMode('all').batch(1).pop()
    assert.ok(message !== undefined)
    const outcome = await lockstep.ack(message, 'dlq', { error: `reason ${n}` })
    assert.ok(outcome.success && outcome.deadLettered)
  }
}

onEveryWay(
  'dead letters are listed newest first, page by page, and each is shown by its id',
  async ({ lockstep, named }) => {
    const queue = named('q')
    await bury(lockstep, queue, 'g', 3)
    const { messages, nextOffset } = await lockstep.deadLetters.list({ queue, limit: 2 })
    assert.deepEqual(
      messages.map((one) => one.transactionId),
      ['m-2', 'm-1'],
    )
    assert.equal(nextOffset, 2)
    const rest = await lockstep.deadLetters.list({ queue, limit: 2, offset: nextOffset ?? 0 })
    assert.deepEqual([rest.messages.map((one) => one.transactionId), rest.nextOffset], [['m-0'], null])
    const [first] = messages
    assert.ok(first !== undefined)
    assert.deepEqual([first.data, first.text, first.cause, first.error], [{ n: 2 }, '{"n":2}', 'forced', 'reason 2'])
    assert.deepEqual([first.queue, first.consumerGroup, first.offset, first.failures], [queue, 'g', 2, 0])
    assert.deepEqual(await lockstep.deadLetters.get(first.id), first)
    assert.equal(await lockstep.deadLetters.get('01a227d9-6709-7029-9680-345d117a9c71'), null)
    const since = await lockstep.deadLetters.list({ queue, group: 'g', error: 'reason 1', from: new Date(0) })
    assert.deepEqual(
      since.messages.map((one) => one.transactionId),
      ['m-1'],
    )
    await assert.rejects(lockstep.deadLetters.get('poison'), { code: 'bad_request' })
    await assert.rejects(lockstep.deadLetters.list({ queue, limit: 0 }), { code: 'bad_request' })
  },
)

onEveryWay(
  'one is put back once, into its partition or another, and wakes who waits there',
  async ({ lockstep, named }) => {
    const queue = named('q')
    await bury(lockstep, queue, 'g', 2)
    const { messages } = await lockstep.deadLetters.list({ queue })
    const [second, first] = messages
    assert.ok(first !== undefined && second !== undefined)
    const waiting = lockstep.queue(queue).group('g').wait(true).timeout(20_000).pop()
    const moved = await lockstep.deadLetters.replay(first.id)
    assert.ok(moved.success)
    assert.deepEqual([moved.queue, moved.partition, moved.transactionId], [queue, 'Default', `dlq:${first.id}`])
    const [message] = await waiting
    assert.deepEqual(
      [message?.transactionId, message?.id, message?.data],
      [moved.transactionId, moved.messageId, { n: 0 }],
    )
    assert.deepEqual(await lockstep.deadLetters.replay(first.id), { success: false, reason: 'gone' })
    const nowhere = await lockstep.deadLetters.replay(second.id, { queue: named('nowhere') })
    assert.deepEqual(nowhere, { success: false, reason: 'queue_not_found' })
    const aside = await lockstep.deadLetters.replay(second.id, { partition: 'aside' })
    assert.ok(aside.success && aside.partition === 'aside')
    assert.deepEqual((await lockstep.deadLetters.list({ queue })).messages, [])
  },
)

onEveryWay('many are put back or removed, after a dry run that only counts', async ({ lockstep, named }) => {
  const queue = named('q')
  await bury(lockstep, queue, 'g', 3)
  const { deadLetters } = lockstep
  assert.deepEqual(await deadLetters.replayAll(queue, { error: 'reason', dryRun: true }), {
    matched: 3,
    moved: 0,
    kept: 0,
  })
  assert.deepEqual(await deadLetters.replayAll(queue, { group: 'other' }), { matched: 0, moved: 0, kept: 0 })
  assert.deepEqual(await deadLetters.replayAll(queue, { error: 'reason 1' }), { matched: 1, moved: 1, kept: 0 })
  assert.deepEqual(await deadLetters.purge(queue, { dryRun: true }), { deleted: 2 })
  assert.deepEqual(await deadLetters.purge(queue, { partition: 'other' }), { deleted: 0 })
  assert.deepEqual(await deadLetters.purge(queue), { deleted: 2 })
  assert.deepEqual((await deadLetters.list({ queue })).messages, [])
  const [again] = await lockstep.queue(queue).group('g').pop()
  assert.deepEqual(again?.data, { n: 1 })
})

onEveryWay(
  'a conflating group gets the newest of each partition, and its ack tells how many that stood for',
  async (c) => {
    const queue = c.lockstep.queue(c.named('prices'))
    await queue.partition('eur').push([{ data: 1 }, { data: 2 }, { data: 3 }])
    await queue.partition('usd').push([{ data: 7 }])
    const newest = queue.group('screen').subscriptionMode('all').conflation()
    const got = await newest.pop()
    assert.deepEqual(new Set(got.map((one) => one.data)), new Set([3, 7]))
    const counts = await Promise.all(
      got.map(async (message) => {
        const outcome = await c.lockstep.ack(message)
        assert.ok(outcome.success)
        return [message.data, outcome.conflated] as const
      }),
    )
    assert.deepEqual(
      new Map(counts),
      new Map([
        [3, 2],
        [7, 0],
      ]),
    )
    await queue.partition('eur').push([{ data: 4 }, { data: 5 }])
    const seen: unknown[] = []
    await newest
      .limit(1)
      .each()
      .consume((message) => void seen.push(message.data))
    assert.deepEqual(seen, [5])
    await assert.rejects(queue.conflation().pop(), { code: 'bad_request' })
  },
)

onEveryWay('a client that disagrees with its group about conflation is warned once', async (c) => {
  const warnings: string[] = []
  const logger = { warn: (_: Readonly<Record<string, unknown>>, message: string) => void warnings.push(message) }
  const queue = c.another(logger).queue(c.named('q'))
  await queue.push([{ data: 1 }, { data: 2 }])
  assert.equal((await queue.group('g').subscriptionMode('all').pop()).length, 2)
  assert.deepEqual(await queue.group('g').conflation().pop(), [])
  assert.deepEqual(await queue.group('g').conflation().pop(), [])
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /registered without conflation/)
})
