// Consumers as loops, every way: going on completes, leaving hands back what was not finished and counts nothing.
import assert from 'node:assert/strict'
import type { GroupLane, Lockstep } from 'lockstep'
import { onEveryWay, type Case } from './every-way.ts'
import { randomFrom, seedOfRun } from '../kit/random-from.ts'
import { until } from './until.ts'

async function numbered({ lockstep, named }: Case, count: number): Promise<ReturnType<Lockstep['queue']>> {
  const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
  await queue.push(Array.from({ length: count }, (_, at) => ({ data: at + 1 })))
  return queue
}

async function laneOf({ lockstep, named }: Pick<Case, 'lockstep' | 'named'>): Promise<GroupLane | undefined> {
  return (await lockstep.groups.show('g')).find((lane) => lane.queue === named('q') && lane.leaseActive)
}

/** What the group still has to read, and what it counted against it. */
async function left(
  { lockstep, named }: Pick<Case, 'lockstep' | 'named'>,
  queue: ReturnType<Lockstep['queue']>,
): Promise<unknown> {
  const data = (await queue.pop()).map((message) => message.data)
  const lane = await laneOf({ lockstep, named })
  return [data, [lane?.failures, lane?.crashes]]
}

onEveryWay('asking for the next message completes the one before', async (c) => {
  const queue = await numbered(c, 3)
  const name = c.named('q')
  const seen: unknown[] = []
  for await (const message of queue.each().limit(3)) {
    const lag = await c.lockstep.groups.lag('g', name)
    seen.push([message.data, lag?.pending])
  }
  assert.deepEqual(seen, [
    [1, 3],
    [2, 2],
    [3, 1],
  ])
  assert.deepEqual(await queue.pop(), [])
})

onEveryWay('leaving by break or by a throw hands back what was not finished, uncounted and at once', async (c) => {
  const queue = await numbered(c, 4)
  for await (const message of queue.each().messages()) if (message.data === 2) break
  const thrown = new Error('out')
  await assert.rejects(async () => {
    for await (const message of queue.each()) {
      assert.equal(message.data, 2)
      assert.equal(message.signal.aborted, false)
      throw thrown
    }
  }, thrown)
  assert.deepEqual(await left(c, queue), [
    [2, 3, 4],
    [0, 0],
  ])
})

onEveryWay('a message that was acknowledged by hand before the loop was left stays so', async (c) => {
  const queue = await numbered(c, 3)
  for await (const message of queue.each()) {
    await c.lockstep.ack(message)
    break
  }
  assert.equal(await laneOf(c), undefined, 'the rest of its claim was handed back')
  const held = queue.autoAck(false).each().messages()
  const { value: second } = await held.next()
  assert.ok(second !== undefined)
  await c.lockstep.ack(second, 'dlq')
  const { value: third } = await held.next()
  assert.equal(third?.data, 3)
  await held.return()
  assert.equal(third?.signal.aborted, true, 'it is no longer ours')
  assert.deepEqual(await held.next(), { done: true, value: undefined })
  assert.deepEqual(await left(c, queue), [[3], [0, 0]])
})

onEveryWay('batches come one claim at a time and are completed or handed back as a whole', async (c) => {
  const queue = await numbered(c, 5)
  const seen: unknown[] = []
  for await (const messages of queue.batch(2).batches()) {
    seen.push(messages.map((message) => message.data))
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, [
    [1, 2],
    [3, 4],
  ])
  assert.deepEqual(await left(c, queue), [
    [3, 4, 5],
    [0, 0],
  ])
})

onEveryWay('the signal lets the message in hand be finished and ends the loop', async (c) => {
  const queue = await numbered(c, 3)
  const stop = new AbortController()
  const seen: unknown[] = []
  for await (const message of queue.each().messages({ signal: stop.signal })) {
    seen.push(message.data)
    stop.abort()
  }
  assert.deepEqual(seen, [1])
  assert.deepEqual(await left(c, queue), [
    [2, 3],
    [0, 0],
  ])
  for await (const message of queue.each().messages({ signal: stop.signal })) assert.fail(String(message.data))
})

onEveryWay('a loop waits for messages, renews their lease while it works, and ends when it idles', async (c) => {
  const queue = c.lockstep.queue(c.named('q')).group('g').subscriptionMode('all')
  const expiry = async () => (await laneOf(c))?.leaseExpiresAt
  const loop = queue.leaseSeconds(20).renewLease(true, 50).idleMillis(5_000).each().messages()
  const coming = loop.next()
  await queue.push({ data: 'late' })
  const { value: message } = await coming
  assert.equal(message?.data, 'late')
  const first = await expiry()
  await until('the lease is renewed', async () => (await expiry()) !== first)
  await loop.return()
  const seen: unknown[] = []
  for await (const again of queue.idleMillis(100).each()) seen.push(again.data)
  assert.deepEqual(seen, ['late'])
})

onEveryWay(
  'a client that closes ends its loops: the message in hand is finished, the waiting one handed back',
  async (c) => {
    const client = c.another()
    const queue = client.queue(c.named('q')).group('g').subscriptionMode('all')
    for (const partition of ['a', 'b']) await queue.partition(partition).push({ data: partition })
    const loop = queue.batch(1).concurrency(2).each().messages()
    const { value: first } = await loop.next()
    assert.ok(first !== undefined)
    await until('both are claimed', async () => {
      const lanes = await c.lockstep.groups.show('g')
      return lanes.filter((lane) => lane.queue === c.named('q') && lane.leaseActive).length === 2
    })
    const closing = client.close()
    assert.deepEqual(await loop.next(), { done: true, value: undefined })
    await closing
    const rest = await c.lockstep.queue(c.named('q')).group('g').partitions(2).pop()
    assert.deepEqual(
      rest.map((message) => message.data),
      [first.data === 'a' ? 'b' : 'a'],
    )
    await assert.rejects(client.queue(c.named('q')).each().messages().next(), { code: 'closed' })
  },
)

onEveryWay('what one next() brought is finished by the next, also when both were asked for at once', async (c) => {
  const queue = await numbered(c, 3)
  {
    await using loop = queue.each().messages()
    const [one, two] = await Promise.all([loop.next(), loop.next()])
    assert.deepEqual([one.value?.data, two.value?.data], [1, 2])
  }
  assert.deepEqual(await left(c, queue), [
    [2, 3],
    [0, 0],
  ])
  const never = queue.each().messages()
  assert.deepEqual(await never.return(), { done: true, value: undefined })
})

onEveryWay(
  'two loops that are left again and again finish every message once, in the order of its partition',
  async (c) => {
    const seed = seedOfRun()
    const random = randomFrom(seed)
    const upTo = (most: number): number => 1 + Math.floor(random() * most)
    const partitions = ['a', 'b', 'c', 'd']
    const each = Array.from({ length: 10 }, (_, at) => at)
    for (const partition of partitions) {
      await c.lockstep
        .queue(c.named('q'))
        .partition(partition)
        .push(each.map((data) => ({ data })))
    }
    const finished = new Map<string, number[]>(partitions.map((partition) => [partition, []]))
    const stop = new AbortController()
    let open = partitions.length * each.length

    async function loopOften(client: Lockstep): Promise<void> {
      const queue = client.queue(c.named('q')).group('g').subscriptionMode('all')
      while (!stop.signal.aborted) {
        let stay = upTo(6)
        const loop = queue.leaseSeconds(20).batch(upTo(5)).partitions(upTo(2)).concurrency(upTo(3)).each()
        for await (const message of loop.messages({ signal: stop.signal })) {
          stay -= 1
          if (stay === 0) break
          const done = finished.get(message.partition)
          assert.equal(done?.at(-1) ?? -1, message.data - 1, `${message.partition}, LOCKSTEP_SEED=${seed}`)
          done?.push(message.data)
          open -= 1
          if (open === 0) stop.abort()
        }
      }
    }

    await Promise.all([loopOften(c.another()), loopOften(c.another())])
    for (const [partition, done] of finished) assert.deepEqual(done, each, `${partition}, LOCKSTEP_SEED=${seed}`)
    assert.equal((await c.lockstep.groups.lag('g', c.named('q')))?.pending, 0)
  },
)
