// What goes wrong under a stream, every way: state, results and place commit together or not at all, a window closes once whatever
// dies in between, and a runner that lost its lease changes nothing.
import assert from 'node:assert/strict'
import { z } from 'zod'
import { LockstepError, queue, type Untyped } from 'lockstep'
import { count, stream, sum, type StreamDefinition } from 'lockstep/streams'
import { onEveryWay } from './every-way.ts'
import { at, byText, dataOf, held, iso, pay, read, type Payment, type Reading } from './stream-ground.ts'
import { gate, until } from './until.ts'

onEveryWay('a message that fails is told, retried and dead-lettered; its neighbours go through in order', async (c) => {
  const { lockstep, named } = c
  const Payments = queue(named('in'), z.object({ account: z.string(), amount: z.number() }))
  await lockstep.queue(Payments).config({ retryLimit: 1, retryDelay: 0 }).create()
  const told: unknown[] = []
  const texts = stream(named('f'), Payments)
    .map(({ account, amount }) => {
      if (amount < 0) throw new Error('no refunds')
      return `${account}${amount}`
    })
    .reduce('', (text, value) => text + value)
    .map(({ value }) => value)
    .to(named('out'))
  const send = lockstep.queue(named('in')).partition('p')
  await send.push([{ data: { account: 'a', amount: 1 } }, { data: { account: 'b', amount: -1 } }])
  await send.push([{ data: 'nonsense' }, { data: { account: 'c', amount: 2 } }])
  await using running = await lockstep.stream(texts).start({
    onError: (error, fault) => told.push([error instanceof Error && error.message, fault]),
  })
  await until('the last', () => running.status().results === 2)
  assert.deepEqual(dataOf(await held(c, named('out'))), ['a1', 'a1c2'])
  const place = { partition: 'p', offset: 1 }
  assert.deepEqual(told.slice(0, 2), [
    ['no refunds', place],
    ['no refunds', place],
  ])
  assert.equal(running.status().failed, 3)
  const { messages } = await lockstep.deadLetters.list({ queue: named('in') })
  const group = `streams.${named('f')}`
  assert.deepEqual(messages.map(({ consumerGroup, data }) => [consumerGroup, data]).toSorted(byText), [
    [group, 'nonsense'],
    [group, { account: 'b', amount: -1 }],
  ])
})

onEveryWay('a window that cannot be closed stays open until it can', async (c) => {
  const { lockstep, named } = c
  const from = named('in')
  let broken = true
  const told: unknown[] = []
  const windows = stream<Reading>(named('w'), from)
    .window('10m', { time: ({ minute }) => at(minute) })
    .aggregate({ seen: count() })
    .map(({ seen }) => {
      if (broken) throw new Error('not now')
      return seen
    })
    .to(named('out'))
  // The second message closes the window of the first in its own batch; that it cannot does not keep it from being read.
  await read(lockstep, from, ['a', 1], ['a', 30])
  await using running = await lockstep.stream(windows).start({ onError: (error) => told.push(error) })
  await until('told', () => told.length >= 2)
  assert.deepEqual([running.status().messages, running.status().closed], [2, 0])
  assert.match(running.status().lastError ?? '', /not now/)
  broken = false
  await until('both', () => running.status().closed === 2)
  assert.deepEqual(dataOf(await held(c, named('out'))), [1, 1])
  assert.deepEqual((await lockstep.deadLetters.list({ queue: from })).messages, [])
})

onEveryWay('a runner that lost its lease changes nothing; the one that took over has counted once', async (c) => {
  const { lockstep, another, named, sql } = c
  const from = named('in')
  await pay(lockstep, from, 'p', { account: 'a', amount: 1 }, { account: 'a', amount: 2 })
  const hold = gate()
  let holds = false
  const sums = (slow: boolean): StreamDefinition =>
    stream<Payment>(named('t'), from)
      .map(async (payment) => {
        if (slow) {
          holds = true
          await hold.passed
        }
        return payment
      })
      .aggregate({ total: sum(({ amount }) => amount) })
      .map(({ total }) => total)
      .to(named('out'))
  const slow = await lockstep.stream(sums(true)).start()
  await until('it holds the batch', () => holds)
  await sql(
    `update lockstep.lane l set lease_expires_at = lease_expires_at - interval '1 day', available_at = lockstep.clock()
       from lockstep.queue q where q.id = l.queue_id and q.name = $1`,
    [from],
  )
  const other = await another().stream(sums(false)).start()
  await until('taken over', () => other.status().messages === 2)
  hold.open()
  await slow.stop()
  assert.deepEqual([slow.status().messages, slow.status().results, slow.status().lost], [0, 0, 1])
  await pay(lockstep, from, 'p', { account: 'a', amount: 4 })
  await until('the next', () => other.status().messages === 3)
  assert.deepEqual(dataOf(await held(c, named('out'))), [1, 3, 7])
  await other.stop()
})

onEveryWay('a cycle that comes after its lease is refused whole: state, results and place', async (c) => {
  const { lockstep, named, sql } = c
  const from = named('in')
  await pay(lockstep, from, 'p', { account: 'a', amount: 1 }, { account: 'a', amount: 2 })
  let lapses = 1
  const sums = stream<Payment>(named('t'), from)
    .aggregate({ total: sum(({ amount }) => amount) })
    .map(async ({ total }) => {
      // Everything is folded and on its way into the cycle when the lease ends.
      if (total === 3 && lapses-- > 0) {
        await sql(
          `update lockstep.lane l set lease_expires_at = lease_expires_at - interval '1 day', available_at = lockstep.clock()
             from lockstep.queue q where q.id = l.queue_id and q.name = $1`,
          [from],
        )
      }
      return total
    })
    .to(named('out'))
  await using running = await lockstep.stream(sums).start()
  await until('both', () => running.status().messages === 2)
  assert.equal(running.status().lost, 1)
  assert.deepEqual(dataOf(await held(c, named('out'))), [1, 3], 'the lost cycle pushed nothing and added nothing')
  const rows = await sql('select value from lockstep.stream_state where query_id = $1', [running.queryId])
  assert.deepEqual(rows, [{ value: '{"acc":[3]}' }])
})

onEveryWay('another shape is refused, or begins anew; whoever ran the old one ends and says why', async (c) => {
  const { lockstep, named } = c
  const from = named('in')
  const over = (version: number): StreamDefinition =>
    stream<Payment>(named('t'), from, { version })
      .aggregate({ total: sum(({ amount }) => amount) })
      .map(({ total }) => total)
      .to(named('out'))
  await pay(lockstep, from, 'p', { account: 'a', amount: 1 })
  const old = await lockstep.stream(over(1)).start()
  await until('one', () => old.status().messages === 1)
  await assert.rejects(lockstep.stream(over(2)).start(), { code: 'stream_conflict', message: /config_hash mismatch/ })
  await old.stop()
  const second = await lockstep.stream(over(1)).start()
  const fresh = await lockstep.stream(over(2)).start({ reset: true })
  assert.deepEqual([fresh.outcome, fresh.queryId === old.queryId], ['reset', false])
  await fresh.stop()
  // Only the old one runs: its next cycle finds itself forgotten.
  await pay(lockstep, from, 'p', { account: 'a', amount: 2 })
  await assert.rejects(second.done, (error) => error instanceof LockstepError && error.code === 'stream_conflict')
  assert.equal(second.status().state, 'failed')
  assert.match(second.status().lastError ?? '', /was reset/)
  await using anew = await lockstep.stream(over(2)).start()
  await until('the second', () => anew.status().messages === 1)
  assert.deepEqual(dataOf(await held(c, named('out'))), [1, 2], 'state begins anew, the place in the queue stays')
})

onEveryWay('what one message gives may fill several cycles, and a signal or a close ends the run', async (c) => {
  const { lockstep, another, named } = c
  const from = named('in')
  await lockstep.queue(from).config({ retryLimit: 0 }).create()
  const many = stream<Payment>(named('m'), from)
    .flatMap(({ amount }) => Array.from({ length: amount }, (_, n) => n))
    .to(named('out'))
  await pay(lockstep, from, 'p', ...[1_500, 1_500, 1_500, 10_001, 3].map((amount) => ({ account: 'a', amount })))
  const stop = new AbortController()
  const running = await lockstep.stream(many).start({ signal: stop.signal })
  await until('all but the one that gives too much', () => running.status().results === 4_503)
  assert.deepEqual([running.status().messages, running.status().failed], [4, 1])
  assert.match(running.status().lastError ?? '', /more than 10000 results/)
  const [row] = await c.sql(
    'select count(*)::int as n from lockstep.message m join lockstep.queue q on q.id = m.queue_id where q.name = $1',
    [named('out')],
  )
  assert.equal(row?.['n'], 4_503)
  stop.abort()
  await running.done
  assert.equal(running.status().state, 'stopped')

  const closing = another()
  const hung = stream<Payment>(named('h'), from)
    .map(async () => new Promise<never>(() => {}))
    .to(named('none'))
  const hanging = await closing.stream(hung).start()
  await closing.close({ timeoutMs: 50 })
  await hanging.done
  assert.deepEqual(await held(c, named('none')), [])
})

onEveryWay('two runners over many partitions close each window once', async (c) => {
  const { lockstep, another, named } = c
  const from = named('in')
  const windows = stream<Reading>(named('w'), from)
    .window('10m', { time: ({ minute }) => at(minute) })
    .aggregate({ seen: count() })
    .to(named('out'))
  const partitions = Array.from({ length: 30 }, (_, n) => `p${n}`)
  await lockstep
    .queue<Reading>(from)
    .push(partitions.flatMap((partition) => [1, 2, 13].map((minute) => ({ data: { sensor: 's', minute }, partition }))))
  const clients = [lockstep, another()]
  const runners = await Promise.all(clients.map(async (client) => client.stream(windows).start({ partitions: 2 })))
  const total = (of: 'closed' | 'messages'): number => runners.reduce((all, runner) => all + runner.status()[of], 0)
  await until('all closed', () => total('closed') === 60)
  assert.equal(total('messages'), 90)
  const out = dataOf(await held(c, named('out'))).map(({ key, windowStart, seen }) => `${key} ${windowStart} ${seen}`)
  assert.deepEqual(
    out.toSorted(byText),
    partitions.flatMap((name) => [`${name} ${iso(0)} 2`, `${name} ${iso(10)} 1`]).toSorted(byText),
  )
  await Promise.all(runners.map(async (runner) => runner.stop()))
})

onEveryWay('connections that die under it cost nothing and count nothing twice', async (c) => {
  const { lockstep, another, named, sql } = c
  const from = named('in')
  const clients = [another(), another()]
  const totals = stream<Payment>(named('t'), from)
    .keyBy(({ account }) => account)
    .aggregate({ seen: count(), total: sum(({ amount }) => amount) })
    .to(named('out'))
  const runners = await Promise.all(
    clients.map(async (client) => client.stream(totals).start({ batch: 5, leaseSeconds: 1 })),
  )
  for (let round = 0; round < 8; round += 1) {
    const sent = Array.from({ length: 4 }, (_, n) => `p${n}`).map(async (partition) =>
      pay(lockstep, from, partition, ...[1, 2, 3, 4, 5].map((amount) => ({ account: 'a', amount }))),
    )
    await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'lockstep%'`,
    )
    await Promise.all(sent)
  }
  const out = async (): Promise<readonly Untyped[]> => held(c, named('out'))
  await until('all', async () => (await out()).length >= 160)
  for (const runner of runners) await runner.stop()
  const all = await out()
  for (const partition of ['p0', 'p1', 'p2', 'p3']) {
    const own = all.filter((message) => message.partition === partition).map(({ data }) => data)
    const counted = Array.from({ length: 40 }, (_, n) => n + 1)
    assert.deepEqual([own.map(({ seen }) => seen), own.at(-1)?.total], [counted, 120], partition)
  }
})

onEveryWay('whatever comes late or dies, each message counts in one window, and each window comes once', async (c) => {
  const { lockstep, another, named, sql } = c
  const from = named('in')
  const begin = Date.UTC(2026, 0, 1)
  const windows = stream<{ readonly at: number }>(named('w'), from)
    .keyBy(({ at: ms }) => ms % 3)
    .window('1s', { time: ({ at: ms }) => begin + ms, grace: '0s' })
    .aggregate({ seen: count() })
    .to(named('out'))
  const runners = await Promise.all(
    [another(), another()].map(async (client) => client.stream(windows).start({ batch: 7, leaseSeconds: 1 })),
  )
  const PARTITIONS = ['p0', 'p1', 'p2']
  // Instants wander back and forth by more than a window, so that some are late wherever the runners are just then.
  for (let round = 0; round < 10; round += 1) {
    const instants = Array.from({ length: 12 }, (_, n) => round * 700 + ((n * 977 + round * 131) % 3_500))
    await lockstep
      .queue(from)
      .push(PARTITIONS.flatMap((partition) => instants.map((ms) => ({ data: { at: ms }, partition }))))
    if (round % 3 !== 2) continue
    await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name like 'lockstep%'`,
    )
  }
  const out = async (): Promise<readonly Untyped[]> => held(c, named('out'))
  const counted = (messages: readonly Untyped[]): number => messages.reduce((all, { data }) => all + data.seen, 0)
  await until('all are counted', async () => counted(await out()) >= 360)
  for (const runner of runners) await runner.stop()
  const all = await out()
  assert.equal(counted(all), 360)
  const late = runners.reduce((total, runner) => total + runner.status().late, 0)
  assert.ok(late > 0, 'some were late')
  const places = all.map(({ partition, data }) => `${partition} ${data.key} ${data.windowStart}`)
  assert.equal(new Set(places).size, places.length)
  assert.deepEqual(
    await sql('select 1 from lockstep.stream_state where query_id = $1 and window_end is not null', [
      runners[0]?.queryId,
    ]),
    [],
  )
})
