// Retention beside the verbs that it could pull the ground from under, in every order of their beginnings and ends: what a
// live lease holds stays, what a group still needs stays, and nobody waits in a circle.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import type { AckResult, Delivery } from '../../src/protocol/message.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import type { Actor, Outcome } from '../kit/actor.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { inTransaction, interleave, type Step } from '../kit/interleave.ts'
import { inTurn } from '../kit/verb-specification.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { ackOf, item, popOf } from '../kit/speech.ts'

interface Old {
  readonly queue: string
  readonly past: readonly Delivery[]
  popped: readonly Delivery[]
  acked: readonly AckResult[]
  cut: number
}

/** Of three sessions: all have begun before one commits, in every order; in the long run all ninety orders. */
const orders = process.env['LOCKSTEP_LONG'] === '1' ? () => true : inTurn
const NAMES = ['m1', 'm2', 'm3']

/** Three messages in p, consumed by group h, before group g, all older than any bound. */
const oldMessages =
  (options: Readonly<Record<string, number | boolean>>) =>
  async (own: TestDatabase, nth: number): Promise<Old> => {
    const queue = `old${nth}`
    await own.database.rows('select lockstep.configure($1, $2::json)', [queue, JSON.stringify(options)])
    await push(
      own.database,
      NAMES.map((name) => item(queue, 'p', name)),
    )
    const past = await drain(own, queue, 'h')
    await drain(own, queue, 'g', { partition: 'elsewhere' })
    await moveClock(own, 1_000)
    return { queue, past, popped: [], acked: [], cut: 0 }
  }

const AGE = { retentionEnabled: true, retentionSeconds: 100 }
const COMPLETED = { retentionEnabled: true, completedRetentionSeconds: 100 }
const WAIT = { maxWaitTimeSeconds: 100 }

const walking: Step<Old> = async ({ sql }, world) => {
  const walk = `select c.cut from lockstep.queue q, lockstep.cut_logs(q.id, 0) c where q.name = $1`
  const [row] = await sql(walk, [world.queue])
  world.cut += Number(row?.[0])
}

const popping =
  (over: Parameters<typeof popOf>[2] = {}): Step<Old> =>
  async ({ db }: Actor, world) => {
    world.popped = (await pop(db, popOf(world.queue, 'g', over))).answers.flat()
    return world.popped
  }

/** After the commit of the pop, as a consumer does. */
const acking: Step<Old> = async ({ db }, world) => {
  const { popped } = world
  if (popped.length > 0) world.acked = (await ack(db, [popped.map((one) => ackOf(one))])).flat()
}

function valuesOf(told: readonly (readonly Outcome[])[]): readonly (readonly unknown[])[] {
  return told.map((session) =>
    session.map((outcome) => {
      assert.ok('value' in outcome, JSON.stringify(outcome))
      return outcome.value
    }),
  )
}

async function logStart(own: TestDatabase, queue: string): Promise<number> {
  const [row] = await own.database.rows(
    `select p.log_start from lockstep.partition p join lockstep.queue q on q.id = p.queue_id where q.name = $1`,
    [queue],
  )
  return Number(row?.[0])
}

test('what a pop has leased stays until it is acked, whoever looked first', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<Old>(own, {
    name: 'pop, ack | walk by age',
    setup: oldMessages(AGE),
    sessions: [[...inTransaction(popping({ batch: 2 })), acking], inTransaction(walking)],
    async check(world, told, at) {
      valuesOf(told)
      for (const result of world.acked) assert.deepEqual([result.success, result.leaseReleased], [true, true])
      await assertSound(at, world.queue)
      assert.equal(await logStart(at, world.queue), world.popped.length === 0 ? 3 : world.cut)
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('what the longest wait takes from a lease is refused afterwards, and the rest of the lane is delivered', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<Old>(own, {
    name: 'pop, ack | walk by wait, push',
    setup: oldMessages(WAIT),
    sessions: [
      [...inTransaction(popping()), acking],
      [...inTransaction(walking), async ({ db }, { queue }) => push(db, [item(queue, 'p', 'm4')])],
    ],
    async check(world, told, at) {
      valuesOf(told)
      await assertSound(at, world.queue)
      const seen = [...world.popped, ...(await drain(at, world.queue, 'g'))].map((one) => one.transactionId)
      assert.equal(seen.filter((name) => name === 'm4').length, 1)
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('what a group gets back by a seek, or meets for the first time, is not taken as completed', async (t) => {
  const own = await createTestDatabase(t)
  const all = async (at: TestDatabase, world: Old, group: string): Promise<void> => {
    await assertSound(at, world.queue)
    const from = await logStart(at, world.queue)
    assert.deepEqual(
      (await drain(at, world.queue, group)).map((one) => one.transactionId),
      NAMES.slice(from),
    )
  }
  const setup = async (at: TestDatabase, nth: number): Promise<Old> => {
    const world = await oldMessages(COMPLETED)(at, nth)
    await drain(at, world.queue, 'g')
    return world
  }
  for (const [name, step] of [
    ['seek of the partition', `select lockstep.seek_partition($1, 'g', 'p', '-infinity')`],
    ['seek of the group', `select lockstep.seek_group($1, 'g', '-infinity')`],
  ] as const) {
    await interleave<Old>(
      own,
      {
        name: `${name} | walk`,
        setup,
        sessions: [
          inTransaction(({ sql }, { queue }) => sql(step, [queue])),
          inTransaction(walking),
          inTransaction(walking),
        ],
        async check(world, told, at) {
          valuesOf(told)
          await all(at, world, 'g')
        },
      },
      orders,
    )
  }
  await interleave<Old>(
    own,
    {
      name: 'first pop of a group | walk',
      setup,
      sessions: [
        inTransaction(({ db }, { queue }) => pop(db, popOf(queue, 'late', { partition: 'elsewhere' }))),
        inTransaction(walking),
        inTransaction(walking),
      ],
      async check(world, told, at) {
        valuesOf(told)
        await all(at, world, 'late')
      },
    },
    orders,
  )
  assert.equal(await deadlocks(own), 0)
})

test('walks at once, beside a push, cut each stretch once and remove it once', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<Old>(
    own,
    {
      name: 'walk | walk | push',
      setup: oldMessages(AGE),
      sessions: [
        inTransaction(walking),
        inTransaction(walking),
        inTransaction(({ db }, { queue }) => push(db, [item(queue, 'p', 'm4')])),
      ],
      async check(world, told, at) {
        valuesOf(told)
        await assertSound(at, world.queue)
        await Promise.all([1, 2].map(() => at.database.rows('select lockstep.remove_cut()', [])))
        await assertSound(at, world.queue)
        assert.deepEqual((await drain(at, world.queue, 'fresh')).map((one) => one.transactionId).at(-1), 'm4')
      },
    },
    orders,
  )
  assert.equal(await deadlocks(own), 0)
})

test('a change that lets delayed messages come sooner waits for nobody in a circle and forgets no lane', async (t) => {
  const own = await createTestDatabase(t)
  const setup = async (at: TestDatabase, nth: number): Promise<Old> => {
    const world = await oldMessages({ delayedProcessing: 100_000 })(at, nth)
    await pop(at.database, popOf(world.queue, 'g'))
    return world
  }
  await interleave<Old>(
    own,
    {
      name: 'configure | pop | push',
      setup,
      sessions: [
        inTransaction(({ sql }, { queue }) =>
          sql(`select lockstep.configure($1, '{"delayedProcessing": 0}')`, [queue]),
        ),
        inTransaction(popping()),
        inTransaction(({ db }, { queue }) => push(db, [item(queue, 'p', 'm4')])),
      ],
      async check(world, told, at) {
        valuesOf(told)
        await assertSound(at, world.queue)
        const seen = [...world.popped, ...(await drain(at, world.queue, 'g'))]
        await ack(at.database, [world.popped.map((one) => ackOf(one))])
        seen.push(...(await drain(at, world.queue, 'g')))
        assert.deepEqual(
          seen.map((one) => one.transactionId),
          [...NAMES, 'm4'],
        )
      },
    },
    orders,
  )
  assert.equal(await deadlocks(own), 0)
})
