// The lock order where it is easiest to break: lanes that a push wakes against lanes that an ack holds, passes of a new group
// against pushes, several queues in one call. Each was a deadlock once, or would be with the obvious form.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { transactionIn } from '../../src/operations/transaction-in.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openActor, type Actor, type Outcome } from '../kit/actor.ts'
import { drain } from '../kit/drain.ts'
import { interleave, type Specification, type Step } from '../kit/interleave.ts'
import { quiet } from '../kit/quiet.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'
import { stageAlone } from '../kit/verbs.ts'

interface Drained {
  /** Their ids rise in the opposite order of their names. */
  readonly late: string
  readonly early: string
  /** Everything group g consumed of both, by partition a and b; an unfenced ack of it says nothing new. */
  readonly past: readonly Delivery[]
}

const begin: Step<unknown> = (actor) => actor.sql('begin')
const commit: Step<unknown> = (actor) => actor.sql('commit')

async function twoDrainedQueues(own: TestDatabase, nth: number): Promise<Drained> {
  const [late, early] = [`z${nth}`, `a${nth}`]
  for (const queue of [late, early]) await push(own.database, [item(queue, 'a', 'first'), item(queue, 'b', 'first')])
  return { late, early, past: [...(await drain(own, late, 'g')), ...(await drain(own, early, 'g'))] }
}

const unfenced = (past: readonly Delivery[], partition?: string) =>
  past
    .filter((one) => partition === undefined || one.partition === partition)
    .map((one) => ackOf(one, 'completed', { leaseId: null }))

async function runWithoutDeadlock<W>(own: TestDatabase, specification: Specification<W>): Promise<void> {
  await interleave(own, specification)
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
}

async function allSucceed(_world: unknown, told: readonly (readonly Outcome[])[]): Promise<void> {
  for (const outcome of told.flat()) assert.ok('value' in outcome, `failed: ${JSON.stringify(outcome)}`)
}

test('an ack over two queues and a push to both meet their lanes in one order', async (t) => {
  await runWithoutDeadlock<Drained>(await createTestDatabase(t), {
    name: 'ack | push',
    setup: twoDrainedQueues,
    sessions: [
      [
        begin,
        ({ db }, { past }) => ack(db, [unfenced(past.slice(0, 2))]),
        ({ db }, { past }) => ack(db, [unfenced(past.slice(2))]),
        commit,
      ],
      [({ db }, { late, early }) => push(db, [item(late, 'a', 'second'), item(early, 'a', 'second')])],
    ],
    check: allSucceed,
  })
})

test('a push that places one partition and appends to another wakes the lanes of both in one order', async (t) => {
  await runWithoutDeadlock<Drained>(await createTestDatabase(t), {
    name: 'ack a, ack b | push with a staged one in b',
    async setup(own, nth) {
      const world = await twoDrainedQueues(own, nth)
      await stageAlone(own, [item(world.early, 'b', 'staged')])
      return world
    },
    sessions: [
      [
        begin,
        ({ db }, { past }) => ack(db, [unfenced(past.slice(2), 'a')]),
        ({ db }, { past }) => ack(db, [unfenced(past.slice(2), 'b')]),
        commit,
      ],
      [({ db }, { early }) => push(db, [item(early, 'a', 'second'), item(early, 'b', 'second')])],
    ],
    check: allSucceed,
  })
})

test('two transactions that each ack where the other pushes never wait for each other', async (t) => {
  const step =
    (from: 'late' | 'early', to: 'late' | 'early'): Step<Drained> =>
    ({ db }, world) =>
      transaction(db, [
        stepOf({
          acks: unfenced(world.past.slice(from === 'late' ? 0 : 2).slice(0, 2)),
          pushes: [item(world[to], 'a', null), item(world[to], 'b', null)],
        }),
      ])
  const own = await createTestDatabase(t)
  // The two meet only in the middle of a statement, so a third session holds what both must pass.
  await runWithoutDeadlock<Drained>(own, {
    name: 'ack late, push early | ack early, push late | held lanes',
    setup: twoDrainedQueues,
    sessions: [
      [begin, ({ db }, { past }) => ack(db, [unfenced(past)]), commit],
      [step('late', 'early')],
      [step('early', 'late')],
    ],
    check: allSucceed,
  })
})

test('the pass of a new group does not wait for partitions while it holds others', async (t) => {
  await runWithoutDeadlock<string>(await createTestDatabase(t), {
    name: 'push p1, push p5 | first pop of a group with a staged push in p5',
    async setup(own, nth) {
      const queue = `passes${nth}`
      await push(
        own.database,
        ['p1', 'p2', 'p5'].map((partition) => item(queue, partition, 'first')),
      )
      await stageAlone(own, [item(queue, 'p5', 'staged')])
      return queue
    },
    sessions: [
      [
        begin,
        ({ db }, queue) => push(db, [item(queue, 'p1', null)]),
        ({ db }, queue) => push(db, [item(queue, 'p5', null)]),
        commit,
      ],
      [({ db }, queue) => pop(db, popOf(queue, 'fresh'))],
    ],
    async check(queue, told, own) {
      await allSucceed(queue, told)
      assert.equal((await drain(own, queue, 'judge')).length, 6)
    },
  })
})

test("an ack that is refused in a user's open transaction holds no lane against pushes", async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('orders', 'p', 'first')])
  const past = await drain(own, 'orders', 'g')
  const user = await openActor(own, 'user')
  const pusher = await openActor(own, 'pusher')
  await user.sql('begin')
  for (const leaseId of [null, past[0]?.leaseId ?? '']) {
    const acks = past.map((one) => ackOf(one, 'completed', { leaseId }))
    assert.equal((await transactionIn(user.door, stepOf({ acks }))).success, false)
  }
  const [plain] = await user.sql(`select success from lockstep.ack($1, 0, $2, 'g')`, [
    past[0]?.partitionId ?? '',
    past[0]?.leaseId ?? '',
  ])
  assert.deepEqual(plain, ['f'])
  const pushed = pusher.hand(() => push(pusher.db, [item('orders', 'p', 'second')]))
  assert.deepEqual(await names(quiet(own, [pusher])), [])
  assert.ok('value' in (await pushed))
  await user.sql('rollback')
})

for (const status of ['completed', 'failed', 'dlq'] as const)
  test(`an open transaction that has said ${status} of its whole batch delays no push and hides no message`, async (t) => {
    const own = await createTestDatabase(t)
    await own.database.rows(`select lockstep.configure('orders', '{"retryDelay":0,"retryLimit":0}')`, [])
    await push(own.database, [item('orders', 'p', 'first')])
    const leased = (await pop(own.database, popOf('orders', 'g'))).answers.flat()
    const user = await openActor(own, 'user')
    await user.sql('begin')
    const acks = leased.map((one) => ackOf(one, status))
    assert.ok((await transactionIn(user.door, stepOf({ acks, pushes: [item('orders', 'p', 'third')] }))).success)
    const other = await openActor(own, 'other')
    const work = [
      other.hand(() => push(other.db, [item('orders', 'p', 'second')])),
      other.hand(() => pop(other.db, popOf('orders', 'g'))),
      other.hand(() => pop(other.db, popOf('orders', 'g', { partition: 'p' }))),
    ]
    assert.deepEqual(await names(quiet(own, [other])), [])
    for (const outcome of await Promise.all(work)) assert.ok('value' in outcome, JSON.stringify(outcome))
    await user.sql('commit')
    const got = await drain(own, 'orders', 'g')
    assert.deepEqual(
      got.map((one) => one.transactionId),
      ['second', 'third'],
    )
    await assertSound(own)
  })

test('two open transactions that each ack another partition of one lease do not wait for each other', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('orders', 'p1', 'm'), item('orders', 'p2', 'm'), item('orders', 'p3', 'm')])
  const leased = (await pop(own.database, popOf('orders', 'g'))).answers.flat()
  assert.equal(new Set(leased.map((one) => one.leaseId)).size, 1)
  const users = [await openActor(own, 'first'), await openActor(own, 'second'), await openActor(own, 'third')]
  for (const [at, user] of users.entries()) {
    const one = leased[at]
    assert.ok(one)
    await user.sql('begin')
    const done = user.hand(() =>
      at < 2
        ? transactionIn(user.door, stepOf({ acks: [ackOf(one)] }))
        : user.sql(`select success from lockstep.ack($1, $2, $3, 'g')`, [one.partitionId, '0', one.leaseId]),
    )
    assert.deepEqual(await names(quiet(own, users)), [])
    assert.ok('value' in (await done))
  }
  for (const user of users) await user.sql('commit')
  assert.deepEqual(await drain(own, 'orders', 'g'), [])
})

test('acks of two groups on two partitions hold the two lanes they name and no other', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p1', 'm'), item('q', 'p2', 'm')])
  const [one] = (await pop(own.database, popOf('q', 'g', { partition: 'p1' }))).answers.flat()
  const [other] = (await pop(own.database, popOf('q', 'h', { partition: 'p2' }))).answers.flat()
  assert.ok(one && other)
  const acker = await openActor(own, 'acker')
  await acker.sql('begin')
  await ack(acker.db, [[ackOf(one)], [ackOf(other)]])
  const got = await Promise.all(['g', 'h'].map((group) => drain(own, 'q', group)))
  assert.deepEqual(
    got.flat().map((each) => `${each.consumerGroup} ${each.partition}`),
    ['g p2', 'h p1'],
  )
  await acker.sql('commit')
})

const names = async (blocked: Promise<readonly Actor[]>): Promise<readonly string[]> =>
  (await blocked).map((one) => one.name)
