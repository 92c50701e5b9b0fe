// Delayed processing and the window buffer: when a message may be delivered is an instant that the database judges, at every
// pop, and a change of the option holds from the next pop on.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { createTestDatabase, type TestDatabase, type TestEnd } from '../../../src/testing/database.ts'
import { moveClock } from '../../kit/clock.ts'
import { assertSound } from '../../kit/soundness.ts'
import { ackOf, item, popOf } from '../../kit/speech.ts'

async function open(t: TestEnd, options: Readonly<Record<string, number>>): Promise<TestDatabase> {
  const own = await createTestDatabase(t)
  await moveClock(own, 0)
  await configure(own, options)
  return own
}

async function configure(own: TestDatabase, options: Readonly<Record<string, number>>): Promise<void> {
  await own.database.rows('select lockstep.configure($1, $2::json)', ['q', JSON.stringify(options)])
}

async function store(own: TestDatabase, partition: string, ...names: readonly string[]): Promise<void> {
  await push(
    own.database,
    names.map((name) => item('q', partition, name)),
  )
}

/** What a pop brings, and in how many milliseconds it may be worth to look again. */
async function look(own: TestDatabase, over: Partial<Parameters<typeof pop>[1]> = {}) {
  const { answers, dueInMs, floor } = await pop(own.database, popOf('q', 'g', over))
  return { got: answers.flat(), names: answers.flat().map((one) => one.transactionId), dueInMs, floor }
}

test('a delayed message is delivered when it is old enough, and what is younger waits behind it', async (t) => {
  const own = await open(t, { delayedProcessing: 100 })
  await store(own, 'a', 'm1', 'm2')
  await moveClock(own, 40)
  await store(own, 'a', 'm3')
  const early = await look(own)
  assert.deepEqual(early.names, [])
  assert.ok(early.dueInMs !== null && early.dueInMs > 0 && early.dueInMs <= 60_000, String(early.dueInMs))
  assert.deepEqual((await look(own, { partition: 'a' })).names, [], 'nor by its partition')
  await moveClock(own, 61)
  const ripe = await look(own, { floor: early.floor })
  assert.deepEqual(ripe.names, ['m1', 'm2'])
  await ack(own.database, [ripe.got.map((one) => ackOf(one))])
  const rest = await look(own)
  assert.deepEqual(rest.names, [])
  assert.ok(rest.dueInMs !== null && rest.dueInMs <= 40_000, String(rest.dueInMs))
  await moveClock(own, 40)
  assert.deepEqual((await look(own)).names, ['m3'])
  await assertSound(own)
})

test('thousands of messages are parted at the right one', async (t) => {
  const own = await open(t, { delayedProcessing: 60 })
  for (let second = 0; second < 100; second += 1) {
    await store(own, 'a', ...Array.from({ length: 17 }, (_, at) => `${second}-${at}`))
    await moveClock(own, 1)
  }
  // Forty rounds are a minute old, give or take the one whose age the test's own seconds decide.
  const { names } = await look(own, { batch: 5000 })
  assert.equal(names.length % 17, 0)
  assert.ok(names.length >= 40 * 17 && names.length < 60 * 17, String(names.length))
})

test('a shorter delay holds from the next pop on, a longer one too', async (t) => {
  const own = await open(t, { delayedProcessing: 3600 })
  await store(own, 'a', 'm1')
  assert.deepEqual((await look(own)).names, [])
  await configure(own, { delayedProcessing: 0 })
  await configure(own, { delayedProcessing: 7200 })
  assert.deepEqual((await look(own)).names, [])
  await configure(own, { delayedProcessing: 0 })
  assert.deepEqual((await look(own)).names, ['m1'])
})

test('a shorter delay ends no pause that a failure earned', async (t) => {
  const own = await open(t, { delayedProcessing: 10, retryDelay: 600_000, retryLimit: 5 })
  await store(own, 'a', 'm1')
  await moveClock(own, 11)
  const { got } = await look(own)
  await ack(own.database, [got.map((one) => ackOf(one, 'failed'))])
  await configure(own, { delayedProcessing: 0 })
  assert.deepEqual((await look(own)).names, [])
  await moveClock(own, 800)
  assert.deepEqual((await look(own)).names, ['m1'])
})

test('a partition that received something lately delivers nothing, the others do', async (t) => {
  const own = await open(t, { windowBuffer: 30 })
  await store(own, 'busy', 'b1')
  await store(own, 'calm', 'c1')
  await moveClock(own, 20)
  await store(own, 'busy', 'b2')
  await moveClock(own, 11)
  assert.deepEqual((await look(own)).names, ['c1'])
  const { dueInMs } = await look(own)
  assert.ok(dueInMs !== null && dueInMs <= 20_000, String(dueInMs))
  await moveClock(own, 20)
  const calm = await look(own)
  assert.deepEqual(calm.names, ['b1', 'b2'])
  await ack(own.database, [calm.got.map((one) => ackOf(one))])
  await store(own, 'busy', 'b3')
  assert.deepEqual((await look(own)).names, [])
  await configure(own, { windowBuffer: 0 })
  assert.deepEqual((await look(own)).names, ['b3'])
  await assertSound(own)
})

test('a message that fails comes again after its pause and the delay of those behind it', async (t) => {
  const own = await open(t, { delayedProcessing: 50, retryDelay: 0 })
  await store(own, 'a', 'm1')
  await moveClock(own, 30)
  await store(own, 'a', 'm2')
  await moveClock(own, 21)
  const first = await look(own)
  assert.deepEqual(first.names, ['m1'])
  await ack(own.database, [first.got.map((one) => ackOf(one, 'failed'))])
  assert.deepEqual((await look(own)).names, ['m1'])
})
