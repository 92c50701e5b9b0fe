// What a lost lease, a failure, a lapse and a killer message do to a lane: nothing overtakes, nobody's neighbour pays, and who
// lost his lease changes nothing at all.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { extend } from '../../../src/operations/extend.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { release } from '../../../src/operations/release.ts'
import { transaction } from '../../../src/operations/transaction.ts'
import type { AckResult, Delivery } from '../../../src/protocol/message.ts'
import { createTestDatabase, type TestDatabase } from '../../../src/testing/database.ts'
import { moveClock } from '../../kit/clock.ts'
import { byPartition, drain } from '../../kit/drain.ts'
import { assertSound } from '../../kit/soundness.ts'
import { ackOf, item, popOf, putOf, stepOf } from '../../kit/speech.ts'

const LEASE = 10

async function fill(
  own: TestDatabase,
  count: number,
  options: Readonly<Record<string, number | boolean>> = {},
): Promise<void> {
  await own.database.rows('select * from lockstep.configure($1, $2::json)', [
    'q',
    JSON.stringify({ leaseTime: LEASE, retryDelay: 0, ...options }),
  ])
  await push(
    own.database,
    Array.from({ length: count }, (_, at) => item('q', 'p', `m${at + 1}`)),
  )
}

async function take(own: TestDatabase, batch: number): Promise<readonly Delivery[]> {
  return (await pop(own.database, popOf('q', 'g', { batch, leaseSeconds: null }))).answers.flat()
}

const names = (deliveries: readonly Delivery[]): readonly string[] => deliveries.map((one) => one.transactionId)

async function letters(own: TestDatabase): Promise<readonly (readonly (string | null)[])[]> {
  return own.database.reader.rows('select transaction_id, cause, error from lockstep.dead_letter order by "offset"', [])
}

test('a worker that lost its lease can neither ack, fail, extend, hand back nor commit a step, and disturbs nobody', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 2)
  const [late] = await take(own, 1)
  await moveClock(own, LEASE + 1)
  const [now] = await take(own, 1)
  assert.ok(late && now)
  assert.equal(now.transactionId, 'm1')
  const before = await own.database.reader.rows('select * from lockstep.lane', [])
  for (const status of ['completed', 'failed', 'retry', 'dlq'] as const) {
    const [answer]: readonly AckResult[] = (await ack(own.database, [[ackOf(late, status)]])).flat()
    assert.deepEqual([answer?.success, answer?.error], [false, 'invalid or expired lease'])
  }
  assert.equal((await extend(own.database, late.leaseId, 600)).renewed, 0)
  assert.equal(await release(own.database, late.leaseId), 0)
  const [step] = await transaction(own.database, [
    stepOf({ acks: [ackOf(late)], pushes: [item('out', 'p', 'x')], kv: [putOf('s', 'k', '1')] }),
  ])
  assert.ok(step !== undefined && step !== 'deferred' && !step.success && step.reason === 'rejected_ack')
  assert.deepEqual(await own.database.reader.rows('select * from lockstep.lane', []), before)
  assert.deepEqual(await own.database.reader.rows(`select * from lockstep.message where transaction_id = 'x'`, []), [])
  assert.deepEqual(await own.database.reader.rows('select * from lockstep.kv where version > 0', []), [])
  const [right] = await transaction(own.database, [stepOf({ acks: [ackOf(now)], pushes: [item('out', 'p', 'x')] })])
  assert.ok(right !== undefined && right !== 'deferred' && right.success)
  assert.deepEqual(names(await take(own, 10)), ['m2'])
})

test('the ack that released a lease may be said again; one that left it held is refused once it has lapsed', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 6)
  const batch = await take(own, 6)
  const say = async (some: readonly Delivery[]): Promise<readonly (readonly [boolean, boolean])[]> =>
    (await ack(own.database, [some.map((one) => ackOf(one))]))
      .flat()
      .map((one) => [one.success, one.leaseReleased] as const)
  const part = batch.slice(0, 4)
  assert.deepEqual(
    await say(part),
    part.map(() => [true, false]),
  )
  await moveClock(own, LEASE + 1)
  assert.deepEqual(
    await say(part),
    part.map(() => [false, false]),
  )
  const rest = await take(own, 6)
  assert.deepEqual(names(rest), ['m5', 'm6'])
  for (let time = 0; time < 2; time++)
    assert.deepEqual(
      await say(rest),
      rest.map(() => [true, true]),
    )
})

test('a lapsed lease is not brought back, though nobody has taken its lane over yet', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 2)
  const [late] = await take(own, 1)
  assert.ok(late)
  await moveClock(own, LEASE + 1)
  assert.deepEqual(await extend(own.database, late.leaseId, 600), { renewed: 0, expiresAt: null })
  assert.equal(await release(own.database, late.leaseId), 0)
  assert.equal((await ack(own.database, [[ackOf(late)]])).flat()[0]?.success, false)
  assert.deepEqual(names(await take(own, 1)), ['m1'])
})

test('an extended lease is not taken over at its first end, and is at its second', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 1)
  const [one] = await take(own, 1)
  assert.ok(one)
  assert.equal((await extend(own.database, one.leaseId, LEASE * 3)).renewed, 1)
  await moveClock(own, LEASE * 2)
  assert.deepEqual(await take(own, 1), [])
  await moveClock(own, LEASE * 2)
  assert.deepEqual(names(await take(own, 1)), ['m1'])
})

for (const [way, end] of [
  ['a failure', (own: TestDatabase, rest: Delivery) => ack(own.database, [[ackOf(rest, 'failed')]])],
  ['a lapsed lease', (own: TestDatabase) => moveClock(own, LEASE + 1)],
  ['a hand-back', (own: TestDatabase, rest: Delivery) => release(own.database, rest.leaseId)],
] as const)
  test(`after ${way} the next delivery begins at the first unfinished message, with two consumers racing`, async (t) => {
    const own = await createTestDatabase(t)
    await fill(own, 8)
    const batch = await take(own, 5)
    assert.deepEqual(names(batch), ['m1', 'm2', 'm3', 'm4', 'm5'])
    const [first, second] = batch
    assert.ok(first && second)
    await ack(own.database, [[ackOf(first)]])
    await end(own, second)
    const race = await Promise.all([take(own, 3), take(own, 3)])
    const winner = race.find((got) => got.length > 0)
    assert.equal(race.filter((got) => got.length > 0).length, 1)
    assert.equal(winner?.[0]?.transactionId, 'm2')
    await ack(own.database, [(winner ?? []).map((one) => ackOf(one))])
    await assertSound(own)
    assert.deepEqual(byPartition(await drain(own, 'q', 'g')).p?.at(-1), 'm8')
  })

test('only the message that kills its worker is buried, by its lapses, and its neighbours spend nothing', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 10, { crashLimit: 2 })
  const done: string[] = []
  for (let got = await take(own, 10), turn = 0; got.length > 0; got = await take(own, 10)) {
    assert.ok(turn++ < 30, 'it comes again and again')
    if (names(got).includes('m4')) await moveClock(own, LEASE + 1)
    else {
      assert.ok((await ack(own.database, [got.map((one) => ackOf(one))])).flat().every((one) => one.success))
      done.push(...names(got))
    }
  }
  assert.deepEqual(done, ['m1', 'm2', 'm3', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10'])
  const buried = await letters(own)
  assert.deepEqual(
    buried.map(([name, cause]) => [name, cause]),
    [['m4', 'crashed']],
  )
  assert.match(buried[0]?.[2] ?? '', /lease lapsed/)
  await assertSound(own)
})

test('the lapse of a batch charges no single message: it is narrowed before anything of it is buried', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 3, { crashLimit: 0 })
  assert.equal((await take(own, 3)).length, 3)
  await moveClock(own, LEASE + 1)
  const done: string[] = []
  for (let got = await take(own, 3); got.length > 0; got = await take(own, 3)) {
    assert.equal(got.length, 1)
    done.push(...names(got))
    await ack(own.database, [got.map((one) => ackOf(one))])
  }
  assert.deepEqual(done, ['m1', 'm2', 'm3'])
  assert.deepEqual(await letters(own), [])
})

test('the lapse of the last allowed attempt buries the message and lets the lane go on', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 2, { retryLimit: 1, crashLimit: 1 })
  for (let attempt = 1; attempt <= 2; attempt++) {
    assert.deepEqual(names(await take(own, 1)), ['m1'])
    await moveClock(own, LEASE + 1)
  }
  assert.deepEqual(names(await take(own, 1)), ['m2'])
  assert.deepEqual(
    (await letters(own)).map(([name, cause]) => [name, cause]),
    [['m1', 'crashed']],
  )
})

test('failures are counted for the message at the cursor: one that succeeds leaves the next its whole budget', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 2, { retryLimit: 2 })
  const outcomes = ['failed', 'failed', 'completed', 'failed', 'failed', 'failed'] as const
  const log: string[] = []
  for (const status of outcomes) {
    const [one] = await take(own, 1)
    assert.ok(one)
    const [answer] = (await ack(own.database, [[ackOf(one, status)]])).flat()
    log.push(`${one.transactionId} ${one.deliveryAttempt} ${status}${answer?.dlq ? ' buried' : ''}`)
  }
  assert.deepEqual(log, [
    'm1 1 failed',
    'm1 2 failed',
    'm1 3 completed',
    'm2 1 failed',
    'm2 2 failed',
    'm2 3 failed buried',
  ])
})

test('a hand-back spends no budget and counts as no delivery', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 1, { crashLimit: 0, retryLimit: 0 })
  for (let time = 0; time < 5; time++) {
    const [one] = await take(own, 1)
    assert.equal(one?.deliveryAttempt, 1)
    assert.equal(await release(own.database, one?.leaseId ?? ''), 1)
  }
  assert.deepEqual(await letters(own), [])
})

test('the pause after a failure is never in the past, never below its base and never above its bound', async (t) => {
  const own = await createTestDatabase(t)
  const rows = await own.database.reader.rows(
    `select n, base, bound, lockstep._backoff(base, bound, n)
       from generate_series(1, 2000) n, (values (1000::bigint, 3600000::bigint), (0, 0), (86400000, 86400000), (1, 86400000),
            (1000, 10)) o(base, bound)
      where lockstep._backoff(base, bound, n) not between make_interval(secs => least(base, bound) / 1000.0)
                                                      and make_interval(secs => bound / 1000.0)`,
    [],
  )
  assert.deepEqual(rows, [])
})

test('a failed message stays away for its pause and comes first when it is over', async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 2, { retryDelay: 60_000 })
  const [one] = await take(own, 2)
  assert.ok(one)
  await ack(own.database, [[ackOf(one, 'failed')]])
  assert.deepEqual(await take(own, 2), [])
  await moveClock(own, 59)
  assert.deepEqual(await take(own, 2), [])
  await moveClock(own, 14)
  assert.deepEqual(names(await take(own, 2)), ['m1', 'm2'])
})

test("an ack without a group, of another group or of an unknown partition never moves another group's cursor", async (t) => {
  const own = await createTestDatabase(t)
  await fill(own, 3)
  const got = await take(own, 3)
  await pop(own.database, popOf('q', 'h', { batch: 1, leaseSeconds: 1 }))
  await pop(own.database, popOf('q', '__QUEUE_MODE__', { batch: 1, leaseSeconds: 1 }))
  await moveClock(own, 2)
  for (const wrong of [
    { group: '__QUEUE_MODE__' },
    { group: 'h' },
    { group: 'unknown' },
    { partitionId: '1999999999999' },
    { partitionId: 'nonsense' },
  ]) {
    const answers = (await ack(own.database, [got.map((one) => ackOf(one, 'completed', wrong))])).flat()
    assert.ok(
      answers.every((one) => !one.success),
      JSON.stringify(wrong),
    )
  }
  for (const group of ['__QUEUE_MODE__', 'h'])
    assert.deepEqual(byPartition(await drain(own, 'q', group)), { p: ['m1', 'm2', 'm3'] })
  assert.ok((await ack(own.database, [got.map((one) => ackOf(one))])).flat().every((one) => one.success))
  assert.deepEqual(await take(own, 3), [])
})

test('two workers never hold one lane at once, however they race', async (t) => {
  const own = await createTestDatabase(t, { connections: 8 })
  await fill(own, 100)
  let inside = 0
  let most = 0
  const seen: string[] = []
  async function work(): Promise<void> {
    while (seen.length < 100) {
      const got = await take(own, 3)
      if (got.length === 0) continue
      most = Math.max(most, ++inside)
      await own.database.reader.rows('select 1', [])
      seen.push(...names(got))
      inside--
      await ack(own.database, [got.map((one) => ackOf(one))])
    }
  }
  await Promise.all(Array.from({ length: 8 }, () => work()))
  assert.equal(most, 1)
  assert.deepEqual(
    seen,
    Array.from({ length: 100 }, (_, at) => `m${at + 1}`),
  )
})
