// Streams every way: what their words do, what is remembered over restarts, when windows close, and what the compiler refuses.
import assert from 'node:assert/strict'
import { z } from 'zod'
import { queue, type Untyped } from 'lockstep'
import { average, count, first, last, max, min, stream, sum } from 'lockstep/streams'
import { onEveryWay, onlyWay } from './every-way.ts'
import { at, byText, dataOf, held, iso, pay, read, type Payment, type Reading } from './stream-ground.ts'
import { until } from './until.ts'

onEveryWay('values are filtered, changed and spread, each pushed once to the partition of its source', async (c) => {
  const { lockstep, named } = c
  const from = named('in')
  const to = named('out')
  await pay(lockstep, from, 'acme', { account: 'a', amount: 1 }, { account: 'b', amount: -1 })
  await pay(lockstep, from, 'zeta', { account: 'c', amount: 2 })
  const copies = stream<Payment>(named('copies'), from)
    .filter((payment) => payment.amount > 0)
    .map(async ({ account, amount }, { partition }) => ({ account, amount: amount * 10, from: partition }))
    .flatMap((payment) => [payment, { ...payment, copy: true }])
    .to(to)
  const running = await lockstep.stream(copies).start()
  assert.deepEqual([running.name, running.outcome], [named('copies'), 'fresh'])
  await until('all read', () => running.status().messages === 3)
  const out = await held(c, to)
  assert.deepEqual(
    out
      .map(({ data, partition }) => [data.account, data.amount, data.from, partition, data.copy ?? false])
      .toSorted(byText),
    [
      ['a', 10, 'acme', 'acme', false],
      ['a', 10, 'acme', 'acme', true],
      ['c', 20, 'zeta', 'zeta', false],
      ['c', 20, 'zeta', 'zeta', true],
    ],
  )
  const { results, failed, lost, state } = running.status()
  assert.deepEqual([results, failed, lost, state], [4, 0, 0, 'running'])
  await running.stop()
  assert.equal(running.status().state, 'stopped')
  await pay(lockstep, from, 'acme', { account: 'd', amount: 1 })
  const again = await lockstep.stream(copies).start()
  assert.deepEqual([again.outcome, again.queryId], ['kept', running.queryId])
  await until('the new one', () => again.status().messages === 1)
  assert.equal((await held(c, to)).length, 6, 'it goes on where it stood')
  await again.stop()
})

onEveryWay('running aggregates and a reduction are kept per key over restarts', async (c) => {
  const { lockstep, another, named } = c
  const from = named('in')
  const Totals = queue(named('out'), z.object({ key: z.string(), total: z.number(), seen: z.number() }))
  const totals = stream<Payment>(named('totals'), from)
    .keyBy((payment) => payment.account)
    .aggregate({
      total: sum((payment) => payment.amount),
      seen: count(),
      mean: average((payment) => payment.amount),
      least: min((payment) => payment.amount),
      most: max((payment) => payment.amount),
      begun: first((payment) => payment.amount),
      newest: last((payment) => payment.amount),
    })
    .to(Totals, { partition: (value) => value.key })
  await pay(lockstep, from, 'p', { account: 'a', amount: 1 }, { account: 'b', amount: 5 }, { account: 'a', amount: 3 })
  const running = await lockstep.stream(totals).start()
  await until('three', () => running.status().results === 3)
  await running.stop()
  await pay(lockstep, from, 'p', { account: 'a', amount: 2 })
  const other = another()
  const next = await other.stream(totals).start()
  await until('the fourth', () => next.status().results === 1)
  await other.close()
  assert.equal(next.status().state, 'stopped')
  assert.deepEqual(
    (await held(c, Totals.name)).filter(({ partition }) => partition === 'a').map(({ data }) => data),
    [
      { key: 'a', total: 1, seen: 1, mean: 1, least: 1, most: 1, begun: 1, newest: 1 },
      { key: 'a', total: 4, seen: 2, mean: 2, least: 1, most: 3, begun: 1, newest: 3 },
      { key: 'a', total: 6, seen: 3, mean: 2, least: 1, most: 3, begun: 1, newest: 2 },
    ],
  )

  const joined = stream<Payment>(named('joined'), from)
    .reduce<readonly string[]>([], (names, { account }) => [...names, account])
    .filter(({ value }) => value.length === 4)
    .map(({ key, value }) => `${key}: ${value.join('')}`)
    .to(named('joined-out'))
  await using reducing = await lockstep.stream(joined).start()
  await until('all', () => reducing.status().messages === 4)
  assert.deepEqual(dataOf(await held(c, named('joined-out'))), ['p: abaa'])
})

onEveryWay(
  'fixed windows close once behind their grace, overlapping ones each, and a late message is told',
  async (c) => {
    const { lockstep, named } = c
    const from = named('in')
    const time = ({ minute }: Reading): number => at(minute)
    const late: unknown[] = []
    const windows = stream<Reading>(named('w'), from)
      .keyBy(({ sensor }) => sensor)
      .window('10m', { time, grace: '1m' })
      .aggregate({ seen: count() })
      .to(named('out'))
    await read(lockstep, from, ['a', 1], ['b', 2], ['a', 9], ['a', 10.5], ['a', 8])
    const running = await lockstep.stream(windows).start({ onLate: (message) => late.push(message) })
    await until('five', () => running.status().messages === 5)
    // 10.5 is within the grace of the first window; what is over by the database's clock is closed at once when all is read.
    await until('closed', () => running.status().closed === 3)
    const out = dataOf(await held(c, named('out')))
    assert.deepEqual(
      out.map(({ key, windowStart, windowEnd, seen }) => [key, windowStart, windowEnd, seen]).toSorted(byText),
      [
        ['a', iso(0), iso(10), 3],
        ['a', iso(10), iso(20), 1],
        ['b', iso(0), iso(10), 1],
      ],
    )
    await read(lockstep, from, ['b', 3])
    await until('the late one', () => running.status().late === 1)
    assert.deepEqual(late, [
      { value: { sensor: 'b', minute: 3 }, key: 'b', partition: 'p', offset: 5, time: iso(3), dropped: false },
    ])
    await running.stop()
    assert.equal(
      (await held(c, named('out'))).length,
      3,
      'it counts in the window that is open, and no closed one comes again',
    )

    const dropping = stream<Reading>(named('d'), from)
      .window('10m', { time, late: 'drop', every: '5m', grace: '0s' })
      .aggregate({ seen: count() })
      .map(({ windowStart, windowEnd, seen }) => [windowStart, windowEnd, seen] as const)
      .to(named('hops'))
    const told: boolean[] = []
    await using hopping = await lockstep
      .stream(dropping)
      .start({ batch: 4, onLate: ({ dropped }) => told.push(dropped) })
    await until('six', () => hopping.status().messages === 6)
    await until('all', () => hopping.status().closed === 4)
    assert.deepEqual(dataOf(await held(c, named('hops'))).toSorted(byText), [
      [iso(-5), iso(5), 2],
      [iso(0), iso(10), 3],
      [iso(5), iso(15), 3],
      [iso(10), iso(20), 1],
    ])
    assert.deepEqual(
      told,
      [true],
      'the first batch closed what ends before 10.5; 8 still counts from 5 to 15, and 3 nowhere',
    )
  },
)

onEveryWay('a session ends when nothing came for its gap; a window closes by the clock alone', async (c) => {
  const { lockstep, named } = c
  const from = named('in')
  const visits = stream<Reading>(named('s'), from)
    .keyBy(({ sensor }) => sensor)
    .session('5m', { time: ({ minute }) => at(minute), grace: '0s' })
    .aggregate({ seen: count(), last: last(({ minute }) => minute) })
    .to(named('out'))
  await read(lockstep, from, ['a', 1], ['b', 2], ['a', 3], ['a', 20], ['a', 19])
  await using running = await lockstep.stream(visits).start()
  await until('all', () => running.status().closed === 3)
  assert.deepEqual(
    dataOf(await held(c, named('out')))
      .map(({ key, windowStart, windowEnd, seen, last: minute }) => [key, windowStart, windowEnd, seen, minute])
      .toSorted(byText),
    [
      ['a', iso(1), iso(8), 2, 3],
      ['a', iso(19), iso(25), 2, 19],
      ['b', iso(2), iso(7), 1, 2],
    ],
  )

  const perSecond = stream(named('clock'), from).window('1s', { grace: '0s' }).aggregate({ seen: count() })
  await using ticking = await lockstep.stream(perSecond.to(named('ticks'))).start()
  const seen = async (): Promise<number> =>
    dataOf(await held(c, named('ticks'))).reduce((all: number, { seen: n }: Untyped) => all + n, 0)
  await until('what is there', async () => (await seen()) === 5)
  await read(lockstep, from, ['c', 1])
  await until('one more, though nothing follows it', async () => (await seen()) === 6)
  assert.equal(ticking.status().lost, 0)
})

onEveryWay('a gate holds back what it does not let through, in order, and charges nothing', async (c) => {
  const { lockstep, named } = c
  const from = named('in')
  await lockstep.queue(from).config({ crashLimit: 0, retryLimit: 0 }).create()
  let limit = 2
  const gated = stream<Payment>(named('g'), from)
    .keyBy(({ account }) => account)
    .gate(0, (passed) => (passed < limit ? passed + 1 : false))
    .map(({ account, amount }) => `${account}${amount}`)
    .to(named('out'))
  await pay(lockstep, from, 'p', ...[1, 2, 3, 4, 5].map((amount) => ({ account: 'a', amount })))
  await using running = await lockstep.stream(gated).start()
  await until('two', () => running.status().messages === 2)
  await until('asked again', async () => {
    const [lane] = await c.sql(
      'select l.deliveries from lockstep.lane l join lockstep.queue q on q.id = l.queue_id where q.name = $1',
      [from],
    )
    return Number(lane?.['deliveries']) > 2
  })
  assert.deepEqual(dataOf(await held(c, named('out'))), ['a1', 'a2'])
  limit = 4
  await until('two more', () => running.status().messages === 4)
  assert.deepEqual(dataOf(await held(c, named('out'))), ['a1', 'a2', 'a3', 'a4'])
  assert.deepEqual((await lockstep.deadLetters.list({ queue: from })).messages, [])
})

onlyWay('http', 'a stream is checked while it is written', async ({ lockstep }) => {
  const Sink = queue('typed-out', z.object({ total: z.number() }))
  const base = stream<Payment>('typed', 'typed-in')
  // @ts-expect-error the sink wants { total: number }
  base.to(Sink)
  base
    .keyBy(({ account }) => account)
    .aggregate({ total: sum(({ amount }) => amount) })
    .to(Sink)
  // @ts-expect-error no such member
  base.keyBy(({ nope }) => nope)
  // @ts-expect-error a result without its window has none
  base.aggregate({ seen: count() }).map(({ windowEnd }) => windowEnd)
  // @ts-expect-error no unit
  assert.throws(() => base.window('1 week'), /window must be a whole number above zero with a unit/)
  assert.throws(() => base.window('1m', { every: '2m' }), /every must be at most the size of the window/)
  assert.throws(() => base.window('1m', { every: '1ms' }), /a 100th of it/)
  assert.throws(() => base.aggregate({ key: count() }), /aggregate.key must be called otherwise/)
  assert.throws(() => base.aggregate({}), /at least one aggregate/)
  assert.throws(() => stream('', 'x'), /name must be text of 1 to 504 bytes/)
  // @ts-expect-error no end: nothing can be started
  assert.throws(() => lockstep.stream(base), /stream must be a stream declared with stream/)
  await assert.rejects(lockstep.stream(base.to('x')).start({ batch: 0 }), /batch must be an integer from 1/)
})
