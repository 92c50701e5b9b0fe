// Push and pop on both ways: what comes back is what went in, in order, once, and what cannot travel is refused by name.
import assert from 'node:assert/strict'
import { onEveryWay } from './every-way.ts'

onEveryWay('a pushed message is popped with all it was given, at once', async ({ lockstep, named }) => {
  const queue = named('orders')
  const data = { orderId: 'o-1', lines: [{ sku: 'ä"\\\u0000', n: -1.5 }], none: null }
  const [pushed] = await lockstep
    .queue(queue)
    .partition('acme')
    .push({ transactionId: 'o-1', data, traceId: 'trace-1' })
  assert.equal(pushed?.status, 'queued')
  assert.ok(pushed !== undefined && 'offset' in pushed)
  assert.equal(pushed.offset, 0)
  const messages = await lockstep.queue(queue).pop()
  assert.equal(messages.length, 1)
  const [message] = messages
  assert.deepEqual(message?.data, data)
  assert.equal(message?.text, JSON.stringify(data))
  assert.equal(message?.id, pushed.messageId)
  assert.equal(message?.transactionId, 'o-1')
  assert.equal(message?.queue, queue)
  assert.equal(message?.partition, 'acme')
  assert.equal(message?.consumerGroup, '__QUEUE_MODE__')
  assert.equal(message?.traceId, 'trace-1')
  assert.equal(message?.offset, 0)
  assert.equal(message?.deliveryAttempt, 1)
  assert.match(message?.createdAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/)
  assert.equal(message?.signal.aborted, false)
})

onEveryWay(
  'the bytes of a payload come back equal, whatever JSON could not carry through a parser',
  async ({ lockstep, named, sql }) => {
    const queue = named('bytes')
    const payload = '{"b": 9007199254740993, "a":1e400,  "a":[1.0,"\\u0000","\\ud800"]}'
    await sql('select * from lockstep.push($1, $2::json)', [queue, payload])
    const [message] = await lockstep.queue(queue).wait(true).timeout(5_000).pop()
    assert.equal(message?.text, payload)
  },
)

onEveryWay(
  'one item and an array are pushed alike, each with a transaction id of its own',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('ids'))
    const one = await queue.push({ data: 1 })
    const many = await queue.push(Array.from({ length: 100 }, (_, data) => ({ data })))
    assert.equal(one.length, 1)
    assert.equal(new Set([...one, ...many].map((outcome) => outcome.transactionId)).size, 101)
    assert.deepEqual(await queue.push([]), [])
    const messages = await queue.batch(200).pop()
    assert.deepEqual(
      messages.map((message) => message.data),
      [1, ...Array.from({ length: 100 }, (_, data) => data)],
    )
    assert.deepEqual(
      messages.map((message) => message.offset),
      Array.from({ length: 101 }, (_, offset) => offset),
    )
  },
)

onEveryWay(
  'a repeat is a duplicate with the id of the first, another body a conflict; neither is stored',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('repeat')).partition('p')
    const [first] = await queue.push({ transactionId: 'k', data: { total: 1 } })
    const [again] = await queue.push({ transactionId: 'k', data: { total: 1 } })
    const [other] = await queue.push({ transactionId: 'k', data: { total: 2 } })
    const [elsewhere] = await queue.partition('q').push({ transactionId: 'k', data: { total: 2 } })
    assert.deepEqual(
      [first, again, other, elsewhere].map((outcome) => outcome?.status),
      ['queued', 'duplicate', 'conflict', 'queued'],
    )
    assert.ok(first !== undefined && 'messageId' in first)
    for (const outcome of [again, other]) {
      assert.ok(outcome !== undefined && 'messageId' in outcome)
      assert.equal(outcome.messageId, first.messageId)
    }
    const messages = await queue.pop()
    assert.deepEqual(
      messages.map((message) => message.data),
      [{ total: 1 }],
    )
  },
)

onEveryWay('a full queue refuses an item by value, the others are stored', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('full'))
  await queue.config({ maxSize: 2 }).create()
  const outcomes = await queue.push([{ data: 1 }, { data: 2 }, { data: 3 }])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ['queued', 'queued', 'rejected'],
  )
  const [, , refused] = outcomes
  assert.ok(refused?.status === 'rejected')
  assert.equal(refused.reason, 'queue_full')
})

onEveryWay(
  'a value that JSON would change is refused by its path and nothing is pushed',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('values'))
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    const refused: readonly (readonly [unknown, string])[] = [
      [{ total: 10n }, 'items[1].data.total'],
      [{ list: [0, Number.NaN] }, 'items[1].data.list[1]'],
      [Number.POSITIVE_INFINITY, 'items[1].data'],
      [{ a: undefined }, 'items[1].data.a'],
      [{ 'x y': () => 1 }, 'items[1].data["x y"]'],
      [cycle, 'items[1].data.self'],
    ]
    for (const [data, path] of refused) {
      await assert.rejects(
        queue.push([{ data: 'fine' }, { data }]),
        (error: Error & { code?: string; details?: unknown }) => {
          assert.equal(error.name, 'LockstepError')
          assert.equal(error.code, 'unserializable')
          assert.deepEqual(error.details, { path })
          return true
        },
      )
    }
    assert.deepEqual(await queue.pop(), [])
  },
)

onEveryWay('what is no name is refused before anything is sent', async ({ lockstep, named }) => {
  const queue = lockstep.queue(named('names'))
  assert.throws(() => queue.partition(''), { code: 'bad_request' })
  assert.throws(() => queue.partition('..'), { code: 'bad_request' })
  assert.throws(() => queue.group('x'.repeat(513)), { code: 'name_too_long' })
  await assert.rejects(queue.push({ data: 1, transactionId: '' }), { code: 'bad_request' })
  assert.throws(() => queue.batch(0), { code: 'bad_request' })
  assert.throws(() => queue.partitions(65), { code: 'bad_request' })
  assert.throws(() => queue.subscriptionFrom('2026-13-45'), { code: 'bad_request' })
  // @ts-expect-error a mode that does not exist
  assert.throws(() => queue.subscriptionMode('sometimes'), { code: 'bad_request' })
})

onEveryWay('a builder is never changed by what is built from it', async ({ lockstep, named }) => {
  const base = lockstep.queue(named('base'))
  const acme = base.partition('acme')
  base.partition('other')
  acme.group('g').batch(1)
  await acme.push([{ data: 'a1' }, { data: 'a2' }])
  await base.push({ data: 'd1' })
  const first = await acme.pop()
  assert.deepEqual(
    first.map((message) => message.data),
    ['a1', 'a2'],
  )
  const [rest] = await base.pop()
  assert.equal(rest?.partition, 'Default')
})

onEveryWay(
  'a pop claims one partition unless told otherwise, and batch is the budget over all of them',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('wide'))
    for (const partition of ['a', 'b', 'c']) await queue.partition(partition).push([{ data: 1 }, { data: 2 }])
    const one = await queue.group('one').subscriptionMode('all').pop()
    assert.equal(new Set(one.map((message) => message.partition)).size, 1)
    const wide = await queue.group('wide').subscriptionMode('all').partitions(10).pop()
    assert.equal(wide.length, 6)
    assert.equal(new Set(wide.map((message) => message.leaseId)).size, 1)
    const bounded = await queue.group('bounded').subscriptionMode('all').partitions(10).batch(3).pop()
    assert.equal(bounded.length, 3)
  },
)

onEveryWay(
  'a group begins at what comes, or at everything, or at an instant; queue mode always at everything',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('start'))
    await queue.push({ data: 'before' })
    const late = queue.group('late')
    assert.deepEqual(await late.pop(), [])
    assert.deepEqual(
      (await queue.group('all').subscriptionMode('all').pop()).map((message) => message.data),
      ['before'],
    )
    await queue.push({ data: 'after' })
    const [after] = await late.pop()
    assert.equal(after?.data, 'after')
    const from = await queue
      .group('from')
      .subscriptionFrom(after?.createdAt ?? '')
      .pop()
    assert.deepEqual(
      from.map((message) => message.data),
      ['after'],
    )
    assert.deepEqual(
      (await queue.pop()).map((message) => message.data),
      ['before', 'after'],
    )
  },
)

onEveryWay(
  'a leased partition is not given twice, and a waiting pop gets a push at once',
  async ({ lockstep, another, named }) => {
    const queue = lockstep.queue(named('wait')).group('g').subscriptionMode('all')
    await queue.push({ data: 1 })
    const [held] = await queue.pop()
    assert.equal(held?.data, 1)
    assert.deepEqual(await queue.pop(), [])
    const waiting = another()
      .queue(named('wait'))
      .group('h')
      .subscriptionMode('all')
      .partition('new')
      .wait(true)
      .timeout(60_000)
    const started = performance.now()
    const popped = waiting.pop()
    await lockstep.queue(named('wait')).partition('new').push({ data: 2 })
    assert.deepEqual(
      (await popped).map((message) => message.data),
      [2],
    )
    assert.ok(performance.now() - started < 30_000)
  },
)

onEveryWay(
  'a waiting pop answers nothing when its time is over or its signal is aborted',
  async ({ lockstep, named }) => {
    const queue = lockstep.queue(named('nothing')).wait(true)
    const started = performance.now()
    assert.deepEqual(await queue.timeout(200).pop(), [])
    const waited = performance.now() - started
    assert.ok(waited >= 150 && waited < 20_000, `${waited} ms`)
    const stop = new AbortController()
    const popped = queue.timeout(30_000).pop({ signal: stop.signal })
    stop.abort()
    assert.deepEqual(await popped, [])
  },
)

const NAMES = [
  "a'; drop table lockstep.queue;--",
  'a"b',
  'a%00b',
  '%2e%2e',
  'a/b?c#d&e=f',
  'A',
  'a',
  '\u00e9',
  'e\u0301',
  '\u{1f680}',
  '\u200f right to left',
  ' ',
  'x'.repeat(512),
]

onEveryWay(
  'any name is a value: it comes back as it was, and its neighbours are others',
  async ({ lockstep, named }) => {
    for (const [index, name] of NAMES.entries()) {
      const data = { index }
      const queue = lockstep.queue(named('names')).partition(name)
      await queue.push({ data, transactionId: `${name.slice(0, 100)} id` })
      await lockstep.queue(name === 'x'.repeat(512) ? name : `${name}-${named('q')}`).push({ data })
      await lockstep.kv.put('names', `${named('k')}${name}`.slice(0, 500), index, { ttl: '1h' })
    }
    for (const [index, name] of NAMES.entries()) {
      const [message, ...more] = await lockstep
        .queue(named('names'))
        .partition(name)
        .group(name)
        .subscriptionMode('all')
        .pop()
      assert.deepEqual(
        [message?.data, message?.partition, message?.consumerGroup],
        [{ index }, name, name],
        JSON.stringify(name),
      )
      assert.equal(message?.transactionId, `${name.slice(0, 100)} id`)
      assert.deepEqual(more, [])
      const queue = name === 'x'.repeat(512) ? name : `${name}-${named('q')}`
      assert.deepEqual(
        (await lockstep.queue(queue).pop()).map((other) => [other.data, other.queue]),
        [[{ index }, queue]],
      )
      assert.equal((await lockstep.kv.get('names', `${named('k')}${name}`.slice(0, 500))).value, index)
    }
  },
)

onEveryWay('what no name can be is refused', async ({ lockstep }) => {
  for (const name of ['..', '.', 'a\u0000b', 'x'.repeat(513), '\ud800']) {
    assert.throws(() => lockstep.queue(name), { name: 'LockstepError', status: 400 }, JSON.stringify(name))
    assert.throws(() => lockstep.queue('q').partition(name), { name: 'LockstepError', status: 400 })
    assert.throws(() => lockstep.queue('q').group(name), { name: 'LockstepError', status: 400 })
    assert.throws(() => lockstep.transaction().queue('q').partition(name), { name: 'LockstepError', status: 400 })
  }
  assert.throws(() => lockstep.queue(''), { code: 'bad_request' })
  assert.throws(() => Reflect.apply(lockstep.queue, undefined, [7]), { code: 'bad_request' })
})
