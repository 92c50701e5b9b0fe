// No message is ever left lying because a push and the end of somebody's work met: whichever commits first, the lane ends due,
// or its reader has the message. Isolation levels under which that could not hold are refused.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { extend } from '../../src/operations/extend.ts'
import { kvIn } from '../../src/operations/kv-in.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { release } from '../../src/operations/release.ts'
import { stage } from '../../src/operations/stage.ts'
import { transactionIn } from '../../src/operations/transaction-in.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { AckItem, Delivery } from '../../src/protocol/message.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openActor, type Actor, type Outcome } from '../kit/actor.ts'
import { drain } from '../kit/drain.ts'
import { inTransaction, interleave, type Step } from '../kit/interleave.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { ackOf, item, popOf, putOf, stepOf } from '../kit/speech.ts'

const UNKNOWN: AckItem = {
  partitionId: '1000000000001',
  transactionId: null,
  offset: 0,
  status: 'completed',
  error: null,
  leaseId: 'lease',
  group: 'g',
}

interface Leased {
  readonly queue: string
  readonly leased: readonly Delivery[]
}

async function oneLeased(own: TestDatabase, nth: number): Promise<Leased> {
  const queue = `wake${nth}`
  await push(own.database, [item(queue, 'p', 'first')])
  const { answers } = await pop(own.database, popOf(queue, 'g'))
  return { queue, leased: answers.flat() }
}

const pushing: Step<Leased> = ({ db }, { queue }) => push(db, [item(queue, 'p', 'second')])
const acking: Step<Leased> = ({ db }, { leased }) => ack(db, [leased.map((one) => ackOf(one))])

async function secondArrives(world: Leased, told: readonly (readonly Outcome[])[], own: TestDatabase): Promise<void> {
  for (const outcome of told.flat()) assert.ok('value' in outcome, JSON.stringify(outcome))
  await assertSound(own, world.queue)
  const got = await drain(own, world.queue, 'g')
  assert.deepEqual(
    got.map((one) => one.transactionId),
    ['second'],
  )
}

test('a push that waits for the ack that drains its lane wakes that lane', async (t) => {
  const own = await createTestDatabase(t)
  const sessions = [inTransaction(acking), inTransaction(pushing)]
  await interleave(own, { name: 'ack | push', setup: oneLeased, sessions, check: secondArrives })
  assert.equal(await deadlocks(own), 0)
})

test('a push that meets a look at its drained lane wakes it, and neither waits for the other for ever', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<Leased>(own, {
    name: 'pop of the partition | push | unfenced ack',
    async setup(at, nth) {
      const world = await oneLeased(at, nth)
      await ack(at.database, [world.leased.map((one) => ackOf(one))])
      return world
    },
    sessions: [
      inTransaction(({ db }, { queue }) => pop(db, popOf(queue, 'g', { partition: 'p', autoAck: true }))),
      inTransaction(pushing),
      inTransaction(({ db }, { leased }) => ack(db, [leased.map((one) => ackOf(one, 'completed', { leaseId: null }))])),
    ],
    async check(world, told, at) {
      for (const outcome of told.flat()) assert.ok('value' in outcome, JSON.stringify(outcome))
      await assertSound(at, world.queue)
      const popped = told[0]?.[0]
      assert.ok(popped !== undefined && 'value' in popped)
      const early = JSON.stringify(popped.value).includes('"second"') ? 1 : 0
      assert.equal(early + (await drain(at, world.queue, 'g')).length, 1)
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('auto-ack leaves its lane due when a push commits behind its look', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<Leased>(own, {
    name: 'auto-ack pop | push',
    async setup(at, nth) {
      const queue = `auto${nth}`
      await push(at.database, [item(queue, 'p', 'first')])
      return { queue, leased: [] }
    },
    sessions: [
      inTransaction(({ db }, { queue }) => pop(db, popOf(queue, 'g', { autoAck: true }))),
      inTransaction(pushing),
    ],
    async check(world, told, at) {
      const popped = told[0]?.[0]
      assert.ok(popped !== undefined && 'value' in popped)
      const early = JSON.stringify(popped.value).includes('"second"') ? 1 : 0
      assert.ok(JSON.stringify(popped.value).includes('"first"'))
      await assertSound(at, world.queue)
      assert.equal(early + (await drain(at, world.queue, 'g')).length, 1)
    },
  })
})

const LOCKING: Readonly<Record<string, (actor: Actor) => Promise<unknown>>> = {
  push: ({ db }) => push(db, [item('q', 'p', 'x')]),
  pop: ({ db }) => pop(db, popOf('q', 'g')),
  ack: ({ db }) => ack(db, [[UNKNOWN]]),
  extend: ({ db }) => extend(db, 'lease', 60),
  release: ({ db }) => release(db, 'lease'),
  transaction: ({ db }) => transaction(db, [stepOf({ acks: [UNKNOWN] })]),
  "transaction in a user's": ({ door }) => transactionIn(door, stepOf({ acks: [UNKNOWN] })),
  'seek of a group': ({ sql }) => sql(`select lockstep.seek_group('q', 'g', '-infinity')`),
  'seek of a partition': ({ sql }) => sql(`select lockstep.seek_partition('q', 'g', 'p', '-infinity')`),
  'deletion of a group': ({ sql }) => sql(`select lockstep.delete_group('q', 'g')`),
  'deletion of a queue': ({ sql }) => sql(`select lockstep.delete_queue('q')`),
  redrive: ({ sql }) => sql(`select lockstep.redrive_dead_letters('q')`),
}

test('every verb that locks and then looks refuses to run under an older snapshot', async (t) => {
  const own = await createTestDatabase(t)
  const actor = await openActor(own, 'user')
  for (const level of ['repeatable read', 'serializable'])
    for (const [verb, call] of Object.entries(LOCKING)) {
      await actor.sql(`begin isolation level ${level}`)
      await assert.rejects(call(actor), { code: 'LS425' }, `${verb} under ${level}`)
      await actor.sql('rollback')
    }
})

test('staging and key/value writes work under every isolation level', async (t) => {
  const own = await createTestDatabase(t)
  const actor = await openActor(own, 'user')
  for (const [nth, level] of ['read committed', 'repeatable read', 'serializable'].entries()) {
    await actor.sql(`begin isolation level ${level}`)
    assert.equal((await stage(actor.door, [item('q', 'p', `m${nth}`)]))[0]?.status, 'queued')
    assert.ok((await kvIn(actor.door, [putOf('s', `k${nth}`, '1')])).ok)
    await actor.sql('commit')
  }
  assert.equal((await drain(own, 'q', 'g')).length, 3)
})

test("a role whose default is another level does not change the engine's own", async (t) => {
  const own = await createTestDatabase(t)
  await own.database.pool.query(
    `do $$ begin execute format('alter database %I set default_transaction_isolation = ''repeatable read''', current_database()); end $$`,
  )
  const actor: Actor = await openActor(own, 'user')
  assert.equal((await actor.sql('show default_transaction_isolation'))[0]?.[0], 'repeatable read')
  const fresh = { database: own.database }
  await push(own.database, [item('q', 'p', 'first')])
  assert.equal((await drain(fresh, 'q', 'g')).length, 1)
})
