// Conflating groups: a partition delivers its newest message only, an ack completes what that one stood for, and other groups
// of the queue see everything.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { release } from '../../../src/operations/release.ts'
import { createTestDatabase, type TestDatabase, type TestEnd } from '../../../src/testing/database.ts'
import { moveClock } from '../../kit/clock.ts'
import { drain } from '../../kit/drain.ts'
import { assertSound } from '../../kit/soundness.ts'
import { ackOf, item, popOf } from '../../kit/speech.ts'

async function open(t: TestEnd, options: Readonly<Record<string, number | boolean>> = {}): Promise<TestDatabase> {
  const own = await createTestDatabase(t)
  await own.database.rows('select lockstep.configure($1, $2::json)', [
    'q',
    JSON.stringify({ retryDelay: 0, ...options }),
  ])
  return own
}

async function store(own: TestDatabase, partition: string, ...names: readonly string[]): Promise<void> {
  await push(
    own.database,
    names.map((name) => item('q', partition, name)),
  )
}

async function look(own: TestDatabase, over: Partial<Parameters<typeof pop>[1]> = {}) {
  const { answers, conflation } = await pop(own.database, popOf('q', 'newest', { conflation: true, ...over }))
  const got = answers.flat()
  return { got, names: got.map((one) => one.transactionId), conflation }
}

async function say(
  own: TestDatabase,
  got: Awaited<ReturnType<typeof look>>['got'],
  status: 'completed' | 'failed' | 'retry' | 'dlq',
) {
  const [results] = await ack(own.database, [got.map((one) => ackOf(one, status))])
  return results ?? []
}

test('each partition gives its newest message, and its ack completes those that it stood for', async (t) => {
  const own = await open(t)
  await store(own, 'a', 'a1', 'a2', 'a3')
  await store(own, 'b', 'b1')
  const { got, names, conflation } = await look(own)
  assert.equal(conflation, true)
  assert.deepEqual(names.toSorted(), ['a3', 'b1'])
  const results = await say(own, got, 'completed')
  const counts = new Map(names.map((name, at) => [name, results[at]?.conflated]))
  assert.deepEqual([counts.get('a3'), counts.get('b1')], [2, 0])
  assert.deepEqual(
    (await say(own, got, 'completed')).map((one) => one.conflated),
    results.map((one) => one.conflated),
    'said again',
  )
  assert.deepEqual((await look(own)).names, [])
  await store(own, 'a', 'a4')
  assert.deepEqual((await look(own)).names, ['a4'])
  assert.deepEqual((await drain(own, 'q', 'all')).map((one) => one.transactionId).toSorted(), [
    'a1',
    'a2',
    'a3',
    'a4',
    'b1',
  ])
  await assertSound(own)
})

test('the policy is the first pop’s; later ones are served by it, and told', async (t) => {
  const own = await open(t)
  await store(own, 'a', 'a1', 'a2')
  assert.deepEqual((await look(own)).names, ['a2'])
  await moveClock(own, 61)
  const plain = await look(own, { conflation: false })
  assert.deepEqual([plain.names, plain.conflation], [['a2'], true])
  const { conflation, answers } = await pop(own.database, popOf('q', 'every', { conflation: false }))
  assert.deepEqual([conflation, answers.flat().length], [false, 2])
  await moveClock(own, 61)
  const asked = await pop(own.database, popOf('q', 'every', { conflation: true }))
  assert.deepEqual([asked.conflation, asked.answers.flat().length], [false, 2])
  await own.database.rows(`select lockstep.seek_group('q', 'newest', '-infinity')`, [])
  assert.deepEqual((await look(own, { conflation: false })).names, ['a2'], 'a seek keeps the policy')
})

test('a failed message comes again until its budget is spent; a newer one takes its place with a budget of its own', async (t) => {
  const own = await open(t, { retryLimit: 1 })
  await store(own, 'a', 'a1', 'a2')
  assert.deepEqual(
    (await say(own, (await look(own)).got, 'failed')).map((one) => one.dlq),
    [false],
  )
  await store(own, 'a', 'a3')
  const newer = await look(own)
  assert.deepEqual(newer.names, ['a3'])
  assert.deepEqual(
    (await say(own, newer.got, 'failed')).map((one) => one.dlq),
    [false],
  )
  const again = await look(own)
  assert.deepEqual([again.names, again.got[0]?.deliveryAttempt], [['a3'], 2])
  assert.deepEqual(
    (await say(own, again.got, 'failed')).map((one) => one.dlq),
    [true],
  )
  assert.deepEqual((await look(own)).names, [])
  const letters = await own.database.rows('select transaction_id, failures from lockstep.dead_letter', [])
  assert.deepEqual(letters, [['a3', '1']])
  await assertSound(own)
})

test('what was skipped by deliveries that ended otherwise is counted by the ack that completes', async (t) => {
  const own = await open(t)
  await store(own, 'a', 'a1', 'a2')
  await release(own.database, (await look(own)).got[0]?.leaseId ?? '')
  const handed = await look(own)
  assert.deepEqual([handed.names, handed.got[0]?.deliveryAttempt], [['a2'], 1])
  await say(own, handed.got, 'retry')
  await store(own, 'a', 'a3', 'a4')
  assert.deepEqual((await say(own, (await look(own)).got, 'completed'))[0]?.conflated, 3)
})

test('a lapsed lease charges the message that was delivered, not the one that takes its place', async (t) => {
  const own = await open(t, { crashLimit: 1 })
  await store(own, 'a', 'a1', 'a2')
  await look(own)
  await moveClock(own, 61)
  assert.deepEqual((await look(own)).names, ['a2'])
  await store(own, 'a', 'a3')
  await moveClock(own, 61)
  assert.deepEqual((await look(own)).names, ['a3'], 'the second lapse buried a2')
  await store(own, 'a', 'a4')
  await moveClock(own, 61)
  assert.deepEqual((await look(own)).names, ['a4'])
  await moveClock(own, 61)
  assert.deepEqual((await look(own)).names, ['a4'], 'the lapse of a3 is not its own')
  assert.deepEqual(await own.database.rows('select transaction_id, cause from lockstep.dead_letter', []), [
    ['a2', 'crashed'],
  ])
})

test('equal ids outside the window are not taken for one another', async (t) => {
  const own = await open(t, { dedupWindowSeconds: 0 })
  await store(own, 'a', 'price', 'price', 'price')
  const [result] = await say(own, (await look(own)).got, 'completed')
  assert.deepEqual([result?.success, result?.leaseReleased, result?.conflated], [true, true, 2])
  assert.deepEqual((await look(own)).names, [])
})

test('only the newest message that is old enough counts', async (t) => {
  const own = await open(t, { delayedProcessing: 60 })
  await moveClock(own, 0)
  await store(own, 'a', 'a1', 'a2')
  await moveClock(own, 50)
  await store(own, 'a', 'a3')
  await moveClock(own, 20)
  const first = await look(own)
  assert.deepEqual(first.names, ['a2'])
  await say(own, first.got, 'completed')
  assert.deepEqual((await look(own)).names, [])
  await moveClock(own, 50)
  assert.deepEqual((await look(own)).names, ['a3'])
})

test('depth and reads tell that the group conflates, and what it has before it effectively', async (t) => {
  const own = await open(t)
  await store(own, 'a', 'a1', 'a2', 'a3')
  await store(own, 'b', 'b1', 'b2')
  await look(own, { leaseIds: [] })
  const [total] = await own.database.rows(
    `select pending, partitions, conflation from lockstep.queue_depth('q', 'newest')`,
    [],
  )
  assert.deepEqual(total, ['5', '2', 't'])
  assert.deepEqual(await own.database.rows('select name, conflation from lockstep.list_groups()', []), [
    ['newest', 't'],
  ])
})
