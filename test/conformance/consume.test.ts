// The consume loop on both ways: each message once, in order, settled by how its handler ended, and an end that leaves nothing
// behind.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'
import { gate, until } from './until.ts'

onEveryWay(
  'each() hands over one message at a time, in order, and completes what returned',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('q'))
    for (const partition of ['a', 'b'])
      await queue.partition(partition).push([1, 2, 3].map((n) => ({ data: { partition, n } })))
    const seen: { partition: string; n: number }[] = []
    const result = await queue
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(6)
      .consume(async (message) => {
        seen.push(message.data)
      })
    assert.deepEqual(result, { consumed: 6, reason: 'limit' })
    for (const partition of ['a', 'b']) {
      assert.deepEqual(
        seen.filter((data) => data.partition === partition).map((data) => data.n),
        [1, 2, 3],
      )
    }
    assert.deepEqual(await queue.group('g').partitions(2).pop(), [])
  },
)

onEveryWay('without each() the handler takes what one claim brought', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
  await queue.push([1, 2, 3, 4, 5].map((data) => ({ data })))
  const batches: number[][] = []
  const result = await queue
    .batch(2)
    .limit(5)
    .consume(async (messages) => {
      batches.push(messages.map((message) => message.data))
    })
  assert.deepEqual(batches, [[1, 2], [3, 4], [5]])
  assert.deepEqual(result, { consumed: 5, reason: 'limit' })
  assert.deepEqual(await queue.pop(), [])
})

onEveryWay('a limit claims no more than it will finish', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
  await queue.push([1, 2, 3].map((data) => ({ data })))
  await queue
    .each()
    .limit(2)
    .consume(async () => {})
  assert.deepEqual(
    (await queue.pop()).map((message) => message.data),
    [3],
  )

  for (const partition of ['a', 'b', 'c', 'd', 'e', 'f']) await queue.partition(partition).push({ data: partition })
  const handled: string[] = []
  const result = await queue
    .concurrency(6)
    .each()
    .limit(2)
    .consume(async (message) => {
      handled.push(message.data)
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
  assert.deepEqual([result.consumed, handled.length], [2, 2], 'side by side too')
})

onEveryWay(
  'idleMillis ends a consumer for which nothing comes, and only then',
  async ({ lockstep, another, named }) => {
    const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
    const seen: number[] = []
    const started = performance.now()
    const ended = queue
      .each()
      .idleMillis(600)
      .consume(async (message) => {
        seen.push(message.data)
      })
    for (const data of [1, 2, 3]) {
      await another().queue(named('q')).push({ data })
      await until(`${data} is handled`, () => seen.includes(data))
    }
    assert.deepEqual(await ended, { consumed: 3, reason: 'idle' })
    assert.ok(performance.now() - started >= 600)
  },
)

onEveryWay(
  'a handler that throws spends a retry, and the dead letter keeps its words',
  async ({ lockstep, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name)
    await queue.config({ retryLimit: 2, retryDelay: 0 }).create()
    await queue.partition('p').push([{ data: 'bad' }, { data: 'good' }])
    const seen: string[] = []
    const result = await queue
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(2)
      .consume(async (message) => {
        seen.push(message.data)
        if (message.data === 'bad') throw new Error('no stock for o-1')
      })
    assert.deepEqual(seen, ['bad', 'bad', 'bad', 'good'])
    assert.deepEqual(result, { consumed: 2, reason: 'limit' })
    const dead = await sql(
      'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
      [name],
    )
    assert.deepEqual(dead, [{ error: 'no stock for o-1' }])
  },
)

onEveryWay(
  'whatever text a handler throws, its message is failed and the loop goes on',
  async ({ lockstep, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name)
    await queue.config({ retryLimit: 0 }).create()
    const texts = ['half \ud83d', '\udc00 half', 'nul \0', `${'x'.repeat(4_095)}😀`, 'whole 😀']
    await queue.partition('p').push(texts.map((_, data) => ({ data })))
    const result = await queue
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(texts.length)
      .consume((message) => {
        throw new Error(texts[Number(message.data)])
      })
    assert.deepEqual(result, { consumed: texts.length, reason: 'limit' })
    const dead = await sql(
      'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1 order by d."offset"',
      [name],
    )
    const kept = ['half \ufffd', '\ufffd half', 'nul \ufffd', 'x'.repeat(4_095), 'whole 😀']
    assert.deepEqual(
      dead,
      kept.map((error) => ({ error })),
    )
  },
)

onEveryWay(
  'a batch that throws is failed at its head, and its neighbours are not dead-lettered with it',
  async ({ lockstep, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name)
    await queue.config({ retryLimit: 0, retryDelay: 0 }).create()
    await queue.push([1, 2, 3].map((data) => ({ data })))
    const batches: number[][] = []
    await queue
      .group('g')
      .subscriptionMode('all')
      .batch(3)
      .limit(3)
      .consume(async (messages) => {
        batches.push(messages.map((message) => message.data))
        if (batches.length === 1) throw new Error('once')
      })
    assert.deepEqual(batches, [
      [1, 2, 3],
      [2, 3],
    ])
    const [dead] = await sql(
      'select count(*)::int as n from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
      [name],
    )
    assert.equal(dead?.['n'], 1)
  },
)

onEveryWay('an explicit ack in the handler is the last word, whatever autoAck says', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
  await queue.push([1, 2].map((data) => ({ data })))
  const seen: number[] = []
  const result = await queue
    .each()
    .limit(2)
    .consume(async (message) => {
      seen.push(message.data)
      if (seen.length === 1) await lockstep.ack(message, 'retry')
    })
  assert.deepEqual([result.consumed, seen], [2, [1, 1, 2]], 'what was handed back comes again before the next')

  await queue.push([3, 4, 5, 6].map((data) => ({ data })))
  const batches: number[][] = []
  const batched = await queue
    .batch(4)
    .limit(4)
    .consume(async (messages) => {
      batches.push(messages.map((message) => message.data))
      if (batches.length > 1) return
      await lockstep.ack(messages.slice(0, 2))
      await lockstep.ack(messages.slice(2, 3), 'retry')
    })
  assert.deepEqual(
    [batched.consumed, batches],
    [
      4,
      [
        [3, 4, 5, 6],
        [5, 6],
      ],
    ],
  )
})

onEveryWay('autoAck(false) leaves the ack to the handler and says once when it forgets', async ({ another, named }) => {
  const warnings: string[] = []
  const lockstep = another({ warn: (_, message) => warnings.push(message) })
  const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
  await queue.push([1, 2, 3].map((data) => ({ data })))
  const result = await queue
    .autoAck(false)
    .each()
    .limit(3)
    .consume(async () => {})
  assert.deepEqual(result, { consumed: 3, reason: 'limit' })
  assert.equal(warnings.length, 1)
  assert.match(warnings[0] ?? '', /without acknowledging/)
  assert.deepEqual(await queue.pop(), [], 'the messages keep their lease')
})

onEveryWay(
  'a lost commit hands its message back at once, and no crash and no retry is counted',
  async ({ lockstep, another, named, sql }) => {
    const name = named('q')
    const queue = lockstep.queue(name).group('workflow').subscriptionMode('all')
    const key = named('order')
    await lockstep.kv.put('orders', key, { status: 'paid' }, { ttl: '1d' })
    await queue.push({ data: { orderId: key } })
    const started = performance.now()
    let rounds = 0
    const result = await queue
      .autoAck(false)
      .each()
      .limit(1)
      .consume(async (message) => {
        rounds += 1
        const order = await lockstep.kv.get('orders', key)
        // Somebody else moves the order between the read and the commit.
        if (rounds === 1) await another().kv.put('orders', key, { status: 'shipping' }, { ttl: '1d' })
        if (order.value.status !== 'paid') return lockstep.ack(message, 'completed', { group: 'workflow' })
        const committed = await lockstep
          .transaction()
          .ack(message, 'completed', { consumerGroup: 'workflow' })
          .kv.put('orders', key, { status: 'shipping' }, { ttl: '30d', expect: order.version, required: true })
          .commit()
        if (!committed.success) return undefined
        return assert.fail('the commit should have lost')
      })
    assert.deepEqual(result, { consumed: 1, reason: 'limit' })
    assert.equal(rounds, 2)
    assert.ok(performance.now() - started < 30_000, 'not by waiting for the lease to lapse')
    const [lane] = await sql(
      'select l.failures, l.crashes from lockstep.lane l join lockstep.queue q on q.id = l.queue_id where q.name = $1',
      [name],
    )
    assert.deepEqual(lane, { failures: 0, crashes: 0 })
  },
)

onEveryWay(
  'two workers race the step: one moves the order, the loser finishes its message within a second',
  async ({ lockstep, another, named }) => {
    const key = named('order')
    await lockstep.kv.put('orders', key, { status: 'paid' }, { ttl: '1d' })
    const queue = lockstep.queue(named('q'))
    // The same event twice, in two partitions, so that two workers hold one each.
    for (const partition of ['a', 'b'])
      await queue.partition(partition).push({ transactionId: 'paid', data: { orderId: key } })
    const both = gate()
    let reading = 0
    let lost = 0
    const worker = async (client: typeof lockstep) =>
      client
        .queue(named('q'))
        .group('w')
        .subscriptionMode('all')
        .autoAck(false)
        .each()
        .batch(1)
        .idleMillis(1_500)
        .consume(async (message) => {
          const order = await client.kv.get('orders', key)
          if (order.value.status !== 'paid') return client.ack(message)
          reading += 1
          if (reading === 2) both.open()
          await both.passed
          const result = await client
            .transaction()
            .ack(message)
            .kv.put('orders', key, { status: 'shipping' }, { ttl: '1d', expect: order.version, required: true })
            .queue(named('shipping'))
            .push({ transactionId: `ship-${key}`, data: {} })
            .commit()
          if (!result.success) lost += 1
          return undefined
        })
    const results = await Promise.all([worker(another()), worker(another())])
    assert.equal(
      results.reduce((sum, result) => sum + result.consumed, 0),
      2,
    )
    assert.equal(lost, 1)
    assert.equal((await lockstep.queue(named('shipping')).pop()).length, 1)
    assert.deepEqual(await queue.group('w').partitions(2).pop(), [])
  },
)

onEveryWay(
  'a message that can only lose its commit is reported from the fifth delivery on and dead-lettered after the twentieth',
  async ({ another, named, sql }) => {
    const warnings: { message: string; details: Readonly<Record<string, unknown>> }[] = []
    const lockstep = another({ warn: (details, message) => warnings.push({ message, details }) })
    const name = named('q')
    await lockstep.queue(name).config({ retryLimit: 1, retryDelay: 0 }).create()
    await lockstep.kv.put('orders', named('o'), 1, { ttl: '1d' })
    await lockstep
      .queue(name)
      .partition('p')
      .push([{ transactionId: 'stale', data: 1 }, { data: 2 }])
    let stale = 0
    const result = await lockstep
      .queue(name)
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(2)
      .consume(async (message) => {
        if (message.data !== 1) return
        stale += 1
        const order = lockstep.transaction().ack(message).kv
        await order.put('orders', named('o'), 2, { ttl: '1d', expect: 99, required: true }).commit()
      })
    assert.deepEqual(result, { consumed: 2, reason: 'limit' })
    assert.equal(stale, 21, 'the twentieth spends the one retry')
    const [lost, ...more] = warnings.filter(({ message }) => /loses its commit/.test(message))
    assert.deepEqual(more, [])
    const { reason, queue, partition, offset, transactionId, deliveryAttempt } = lost?.details ?? {}
    assert.deepEqual(
      [reason, queue, partition, offset, transactionId, deliveryAttempt],
      ['kv_precondition', name, 'p', 0, 'stale', 5],
    )
    const moved = warnings.find(({ message }) => /dead letters/.test(message))
    assert.equal(moved?.details['transactionId'], 'stale')
    const dead = await sql(
      'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
      [name],
    )
    assert.match(String(dead[0]?.['error']), /kv_precondition/)
  },
)

onEveryWay('a failed handler is logged with its stack and its message', async ({ another, named }) => {
  const warnings: Readonly<Record<string, unknown>>[] = []
  const lockstep = another({ warn: (details) => warnings.push(details) })
  const queue = lockstep.queue(named('q'))
  await queue.config({ retryLimit: 0 }).create()
  await queue.partition('p').push({ transactionId: 't', data: 1 })
  const failing = (): never => {
    throw new Error('no stock')
  }
  await queue.group('g').subscriptionMode('all').each().limit(1).consume(failing)
  const place = { queue: named('q'), partition: 'p', offset: 0, transactionId: 't', group: 'g', deliveryAttempt: 1 }
  const [failed, moved] = warnings
  assert.match(String(failed?.['stack']), /failing/)
  assert.deepEqual({ ...failed, stack: '' }, { ...place, messages: 1, error: 'no stock', stack: '' })
  assert.deepEqual(moved, { ...place, error: 'no stock' })
})

function withoutHandler(builder: object): Promise<unknown> {
  const consume: unknown = Reflect.get(builder, 'consume')
  assert.ok(typeof consume === 'function')
  return Reflect.apply(consume, builder, [])
}

onEveryWay('consume without a function is refused at the call', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('q')).group('g')
  await assert.rejects(withoutHandler(queue), { code: 'bad_request' })
  const each = queue.each()
  await assert.rejects(withoutHandler(each), { code: 'bad_request' })
})
