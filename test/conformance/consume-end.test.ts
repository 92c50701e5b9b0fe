// How a consumer keeps its lease and how it ends, on both ways: renewed while a handler runs, told when it is lost, and stopped
// without leaving anything behind.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'
import { gate, until } from './until.ts'

onEveryWay(
  'a handler longer than the lease keeps it, and one whose renewal is off loses it and is told',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all').leaseSeconds(1)
    await queue.push({ data: 1 })
    let attempts = 0
    const kept = await queue
      .each()
      .limit(1)
      .consume(async (message) => {
        attempts += 1
        await new Promise((resolve) => setTimeout(resolve, 2_500))
        assert.equal(message.signal.aborted, false)
      })
    assert.deepEqual([kept.consumed, attempts], [1, 1])

    await queue.push({ data: 2 })
    const deliveries: number[] = []
    await queue
      .each()
      .renewLease(false)
      .limit(1)
      .consume(async (message) => {
        deliveries.push(message.deliveryAttempt)
        if (deliveries.length > 1) return
        const renewedAt = performance.now()
        while ((await lockstep.renew(message, 1)).success && performance.now() - renewedAt < 1_000) {
          await new Promise((resolve) => setTimeout(resolve, 1_300))
        }
        const late = await lockstep.transaction().ack(message).commit()
        assert.ok(!late.success)
        assert.equal(late.reason, 'lease_lost')
        assert.equal(message.signal.aborted, true)
      })
    assert.deepEqual(deliveries, [1, 2])
  },
)

onEveryWay('a renewal that renews nothing aborts the signal of the message', async ({ lockstep, named, sql }) => {
  const name = named('q')
  const queue = lockstep.queue(name).group('g').subscriptionMode('all')
  await queue.push({ data: 1 })
  const stop = new AbortController()
  let aborted = false
  await queue
    .each()
    .leaseSeconds(2)
    .consume(
      async (message) => {
        if (stop.signal.aborted) return
        await sql(
          'update lockstep.lane l set lease_id = null, lease_expires_at = null from lockstep.queue q where q.id = l.queue_id and q.name = $1',
          [name],
        )
        const told = until('the signal is aborted', () => message.signal.aborted)
        await told.finally(() => stop.abort())
        aborted = true
      },
      { signal: stop.signal },
    )
  assert.equal(aborted, true)
})

onEveryWay(
  'a stopped consumer finishes what it works on, hands the rest back uncounted, and resolves',
  async ({ lockstep, another, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name).group('g').subscriptionMode('all')
    await queue.push([1, 2, 3].map((data) => ({ data })))
    const stop = new AbortController()
    const finish = gate()
    const seen: number[] = []
    const consuming = queue
      .each()
      .batch(3)
      .consume(
        async (message) => {
          seen.push(message.data)
          stop.abort()
          await finish.passed
        },
        { signal: stop.signal },
      )
    await until('a handler runs', () => seen.length === 1)
    finish.open()
    assert.deepEqual(await consuming, { consumed: 1, reason: 'stopped' })
    assert.deepEqual(seen, [1])
    const rest = await another().queue(name).group('g').wait(true).timeout(5_000).pop()
    assert.deepEqual(
      rest.map((message) => message.data),
      [2, 3],
    )
    const [lane] = await sql(
      'select l.failures, l.crashes from lockstep.lane l join lockstep.queue q on q.id = l.queue_id where q.name = $1',
      [name],
    )
    assert.deepEqual(lane, { failures: 0, crashes: 0 })
  },
)

onEveryWay(
  'close stops every consumer, and abandons a handler only when its patience is over',
  async ({ another, named }) => {
    const lockstep = another()
    const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
    await queue.push([1, 2].map((data) => ({ data })))
    const started = gate()
    let told = false
    const consuming = queue.each().consume(async (message) => {
      message.signal.addEventListener('abort', () => {
        told = true
      })
      started.open()
      await new Promise(() => {})
    })
    await started.passed
    await lockstep.close({ timeoutMs: 300 })
    assert.deepEqual(await consuming, { consumed: 0, reason: 'stopped' })
    assert.equal(told, true)
    await assert.rejects(queue.push({ data: 3 }), { code: 'closed' })
    await lockstep.close()
    const rest = await another().queue(named('q')).group('g').wait(true).timeout(5_000).pop()
    assert.deepEqual(
      rest.map((message) => message.data),
      [1, 2],
    )
  },
)

onEveryWay('concurrency works on several partitions at once and never on one twice', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q'))
  const partitions = Array.from({ length: 8 }, (_, index) => `p${index}`)
  for (const partition of partitions) await queue.partition(partition).push([1, 2, 3, 4].map((data) => ({ data })))
  const at = new Map<string, number>()
  const inside = new Set<string>()
  let together = 0
  const result = await queue
    .group('g')
    .subscriptionMode('all')
    .concurrency(4)
    .each()
    .batch(2)
    .limit(32)
    .consume(async (message) => {
      assert.equal(inside.has(message.partition), false, 'two handlers in one partition')
      inside.add(message.partition)
      together = Math.max(together, inside.size)
      await new Promise((resolve) => setTimeout(resolve, 10))
      assert.equal(message.data, (at.get(message.partition) ?? 0) + 1)
      at.set(message.partition, message.data)
      inside.delete(message.partition)
    })
  assert.deepEqual(result, { consumed: 32, reason: 'limit' })
  assert.deepEqual(
    [...at.values()],
    partitions.map(() => 4),
  )
  assert.ok(together > 1, 'nothing ran side by side')
})

onEveryWay('settings may be said before and after each()', async ({ lockstep, named }) => {
  await lockstep.queue(named('q')).push([1, 2, 3].map((data) => ({ data })))
  const seen: number[] = []
  const result = await lockstep
    .queue(named('q'))
    .each()
    .group('g')
    .autoAck(false)
    .subscriptionMode('all')
    .partitions(2)
    .batch(1)
    .concurrency(1)
    .limit(3)
    .idleMillis(5_000)
    .wait(true)
    .timeout(1_000)
    .renewLease(true, 5_000)
    .consume(async (message) => {
      seen.push(message.data)
      await lockstep.ack(message)
    })
  assert.deepEqual([result, seen], [{ consumed: 3, reason: 'limit' }, [1, 2, 3]])
})

onEveryWay('what can never succeed ends the consumer with its error', async ({ lockstep }) => {
  const closed = lockstep.queue('whatever')
  await lockstep.close()
  await assert.rejects(
    closed.each().consume(async () => {}),
    { code: 'closed' },
  )
})

onEveryWay(
  'a renewed lease is never longer than the queue says, so a killed worker keeps nobody waiting longer',
  async ({ lockstep, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name)
    await queue.config({ leaseTime: 3 }).create()
    await queue.push({ data: 1 })
    await queue
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(1)
      .consume(async () => {
        const left = async (): Promise<number> => {
          const [row] = await sql(
            'select extract(epoch from l.lease_expires_at - lockstep.clock())::float8 as left from lockstep.lane l join lockstep.queue q on q.id = l.queue_id where q.name = $1',
            [name],
          )
          return Number(row?.['left'])
        }
        let longest = 0
        let renewals = 0
        let before = await left()
        await until('the lease was renewed twice', async () => {
          const now = await left()
          if (now > before) renewals += 1
          longest = Math.max(longest, now)
          before = now
          return renewals >= 2
        })
        assert.ok(longest <= 3, `${longest} s`)
      })
  },
)
