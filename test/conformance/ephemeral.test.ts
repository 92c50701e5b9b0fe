// Ephemeral queues through the client: contents in a broker's memory, typed at both ends, popped or looped over; straight to
// PostgreSQL they are refused by name.
import assert from 'node:assert/strict'
import { z } from 'zod'
import { LockstepError, queue } from 'lockstep'
import { onlyWay } from './every-way.ts'
import { until } from './until.ts'

onlyWay('postgres', 'an ephemeral queue is refused, and says what to do', async ({ lockstep }) => {
  assert.throws(
    () => lockstep.ephemeral('presence'),
    (error) => error instanceof LockstepError && error.code === 'not_available' && /\{ url \}/.test(error.message),
  )
  await assert.rejects(lockstep.ephemeral.list(), { code: 'not_available' })
})

onlyWay('http', 'what is pushed is popped by each group, and settled by its id', async ({ lockstep, named, sql }) => {
  const presence = lockstep.ephemeral<{ user: string }>(named('e'))
  assert.equal(await presence.depth(), null)
  const tail = presence.group('tail')
  assert.deepEqual([await presence.pop(), await tail.pop()], [[], []], 'a group begins with its first pop')
  assert.deepEqual(await presence.push([]), { pushed: 0 })
  assert.deepEqual(await presence.push([{ data: { user: 'a' } }, { data: { user: 'b' } }]), { pushed: 2 })
  assert.deepEqual(await presence.partition('other').push({ data: { user: 'c' } }), { pushed: 1 })
  const [first] = await presence.partition('Default').pop()
  assert.ok(first)
  assert.deepEqual(
    [first.data, first.text, first.partition, first.queue, first.deliveryAttempt],
    [{ user: 'a' }, '{"user":"a"}', 'Default', named('e'), 1],
  )
  assert.deepEqual(await presence.ack(first, 'retry'), {
    success: true,
    id: first.id,
    outcome: 'redelivered',
    dropped: false,
  })
  const again = await presence.batch(10).pop()
  assert.deepEqual(again.map(({ data, deliveryAttempt }) => `${data.user}${deliveryAttempt}`).toSorted(), [
    'a2',
    'b1',
    'c1',
  ])
  assert.deepEqual(
    (await presence.ack(again)).map(({ success, outcome }) => [success, outcome]),
    [
      [true, 'acked'],
      [true, 'acked'],
      [true, 'acked'],
    ],
  )
  assert.equal((await presence.ack(first)).outcome, 'stale')
  assert.equal((await presence.ack({ id: 'none' })).success, false)

  assert.equal((await tail.commitOnDelivery().batch(2).pop()).length, 2)
  const depth = await presence.depth()
  assert.deepEqual(
    depth?.groups.map(({ group, pending, leased }) => [group, pending, leased]).find(([group]) => group === 'tail'),
    ['tail', 1, 0],
  )
  assert.ok((await lockstep.ephemeral.list()).some(({ queue: name }) => name === named('e')))
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.queue where name = $1', [named('e')]), [{ n: 0 }])
  assert.deepEqual(await presence.reset(), { dropped: 1 })
  assert.deepEqual(await presence.delete(), { existed: true })
  assert.deepEqual(await presence.delete(), { existed: false })
})

onlyWay(
  'http',
  'options are kept, bound the queue, and wrong ones are refused by name',
  async ({ lockstep, named }) => {
    const small = lockstep.ephemeral(named('e')).config({ maxLength: 2 })
    const { queue: name, options } = await small.create()
    assert.deepEqual([name, options.maxLength, options.policy], [named('e'), 2, 'reject'])
    await small.push([{ data: 1 }, { data: 2 }])
    await assert.rejects(small.push({ data: 3 }), { code: 'queue_full' })
    const kept = await small.depth()
    assert.deepEqual([kept?.messages, kept?.declared, kept?.options.maxLength], [2, true, 2])
    await small.config({ maxLength: 2, policy: 'dropOldest' }).create()
    await small.push({ data: 3 })
    assert.deepEqual(
      (await small.batch(5).commitOnDelivery().pop()).map(({ data }) => data),
      [2, 3],
    )
    assert.throws(() => small.config({ maxLength: 0 }), { code: 'ephemeral_bad_request', message: /maxLength/ })
    // @ts-expect-error no such option
    assert.throws(() => small.config({ maxSize: 1 }), { code: 'ephemeral_bad_request', message: /maxSize/ })
    assert.throws(() => small.batch(0), /batch must be an integer from 1/)
    // @ts-expect-error no such verdict
    await assert.rejects(small.ack({ id: 'x' }, 'dlq'), /status must be/)
    await small.delete()
  },
)

onlyWay('http', 'a schema is asked at both ends; what it refuses at the taker is dropped and told', async (c) => {
  const warned: unknown[] = []
  const lockstep = c.another({ warn: (details) => warned.push(details) })
  const Presence = queue(c.named('e'), z.object({ user: z.string(), at: z.coerce.date() }))
  const presence = lockstep.ephemeral(Presence)
  // @ts-expect-error a number is no name
  await assert.rejects(presence.push({ data: { user: 1, at: 'x' } }), { code: 'invalid_payload' })
  await presence.push({ data: { user: 'a', at: '2026-01-01T00:00:00Z' } })
  await lockstep.ephemeral(c.named('e')).push([{ data: 'nonsense' }, { data: { user: 'b', at: 0 } }])
  const messages = await presence.batch(10).pop()
  assert.deepEqual(
    messages.map(({ data }) => [data.user, data.at.getTime()]),
    [
      ['a', Date.UTC(2026, 0, 1)],
      ['b', 0],
    ],
  )
  assert.equal(warned.length, 1)
  await presence.ack(messages)
  assert.equal((await presence.depth())?.messages, 0)
})

onlyWay(
  'http',
  'a loop completes what it has passed and gives back what it was left in',
  async ({ lockstep, named }) => {
    const feed = lockstep.ephemeral<number>(named('e')).group('g')
    await feed.push([1, 2, 3, 4].map((data) => ({ data })))
    const seen: number[] = []
    for await (const message of feed.messages()) {
      seen.push(message.data)
      if (message.data === 2) break
    }
    assert.deepEqual(seen, [1, 2])
    const left = await feed.batch(10).pop()
    assert.deepEqual(
      left.map(({ data, deliveryAttempt }) => [data, deliveryAttempt]).toSorted((a, b) => Number(a[0]) - Number(b[0])),
      [
        [2, 2],
        [3, 2],
        [4, 2],
      ],
      '1 was completed; 2 was left in the middle, 3 and 4 were taken and not begun',
    )
    await feed.ack(left)

    const thrown = (async () => {
      await feed.push({ data: 5 })
      for await (const message of feed.messages()) throw new Error(`left in ${message.data}`)
    })()
    await assert.rejects(thrown, /left in 5/)
    assert.deepEqual(
      (await feed.pop()).map(({ data, deliveryAttempt }) => [data, deliveryAttempt]),
      [[5, 2]],
    )
  },
)

onlyWay('http', 'a loop waits for messages, and ends by its signal, its block or the client', async (c) => {
  const { lockstep, another, named } = c
  const feed = lockstep.ephemeral<number>(named('e')).group('g')
  const stop = new AbortController()
  const seen: number[] = []
  const loop = (async () => {
    for await (const message of feed.messages({ signal: stop.signal })) seen.push(message.data)
    return 'over'
  })()
  await until('the poll', async () => (await feed.depth()) !== null)
  await feed.push([{ data: 1 }, { data: 2 }])
  await until('both', () => seen.length === 2)
  stop.abort()
  assert.equal(await loop, 'over')
  await until('their acks', async () => (await feed.depth())?.messages === 0)

  await feed.push([{ data: 3 }, { data: 4 }])
  {
    await using messages = feed.messages()
    assert.equal((await messages.next()).value?.data, 3)
  }
  const back = await feed.batch(10).pop()
  assert.deepEqual(
    back.map(({ data }) => data).toSorted((a, b) => a - b),
    [3, 4],
  )
  await feed.ack(back)

  const closing = another()
  const tail = closing.ephemeral<number>(named('e')).group('g')
  const closed = (async () => {
    const got: number[] = []
    for await (const message of tail.messages()) {
      got.push(message.data)
      // The close waits for the message that is being worked on.
      void closing.close({ timeoutMs: 60_000 })
    }
    return got
  })()
  await feed.push({ data: 5 })
  assert.deepEqual(await closed, [5])
  assert.equal((await feed.depth())?.messages, 0, 'it was completed before the connection was let go of')

  const own = feed.autoAck(false)
  await feed.push({ data: 6 })
  for await (const message of own.messages()) {
    assert.equal((await own.ack(message)).outcome, 'acked')
    break
  }
  assert.equal((await feed.depth())?.messages, 0)
})
