// minPopWaitTime: a pop of any partition that found something, but less than its batch, is held so long for more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { mintId } from '../../../src/protocol/mint-id.ts'
import { createTestDatabase, type TestDatabase, type TestEnd } from '../../../src/testing/database.ts'
import { item, popOf } from '../../kit/speech.ts'

async function open(t: TestEnd, options: Readonly<Record<string, number>> = {}): Promise<TestDatabase> {
  const own = await createTestDatabase(t)
  await own.database.rows('select lockstep.configure($1, $2::json)', [
    'q',
    JSON.stringify({ minPopWaitTime: 1000, ...options }),
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
  const outcome = await pop(own.database, popOf('q', 'g', { heldMs: 0, ...over }))
  const { answers, again, dueInMs, floor } = outcome
  return { names: answers.map((got) => got.map((one) => one.transactionId)), again, dueInMs, floor }
}

test('less than a batch is held for the rest of the time, leased by nobody, and then delivered as it is', async (t) => {
  const own = await open(t)
  assert.equal((await look(own)).again, 'no', 'nothing is not held')
  await store(own, 'a', 'a1')
  const held = await look(own, { heldMs: 300 })
  assert.deepEqual([held.names, held.again, held.dueInMs], [[[]], 'held', 700])
  await store(own, 'b', 'b1')
  const longer = await look(own, { heldMs: 900, floor: held.floor })
  assert.deepEqual([longer.again, longer.dueInMs], ['held', 100])
  const over = await look(own, { heldMs: 1000, floor: longer.floor })
  assert.deepEqual([over.names[0]?.toSorted(), over.again], [['a1', 'b1'], 'no'])
})

test('a full batch is not held, nor is a pop of one partition or one that nobody holds', async (t) => {
  const own = await open(t)
  await store(own, 'a', 'a1', 'a2', 'a3')
  const full = await look(own, { batch: 2 })
  assert.deepEqual([full.names, full.again], [[['a1', 'a2']], 'no'])
  await store(own, 'b', 'b1')
  assert.equal((await look(own)).again, 'held')
  assert.deepEqual((await look(own, { partition: 'b' })).names, [['b1']])
  await store(own, 'c', 'c1')
  assert.deepEqual((await look(own, { heldMs: null })).names, [['c1']])
})

test('of several pops at once those that are full go, the others are held', async (t) => {
  const own = await open(t)
  await store(own, 'a', 'a1', 'a2', 'a3', 'a4')
  await store(own, 'b', 'b1')
  const leaseIds = [mintId(), mintId(), mintId()]
  const some = await look(own, { leaseIds, batch: 3, partitions: 1 })
  assert.deepEqual([some.names, some.again], [[['a1', 'a2', 'a3'], [], []], 'held'])
})

test('what may not be delivered yet fills no batch', async (t) => {
  const own = await open(t, { delayedProcessing: 600 })
  await store(own, 'a', 'a1', 'a2', 'a3')
  // The first look makes the group's lanes.
  await look(own)
  const { names, again, dueInMs } = await look(own, { batch: 2 })
  assert.deepEqual([names, again], [[[]], 'no'])
  assert.ok(dueInMs !== null && dueInMs > 500_000)
})
