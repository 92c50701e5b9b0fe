// A timer's firing against everything else that may happen to it, in every order: one schedule is one delivery or one cancel,
// never both and never neither. Calls that name the same keys in opposite orders end, and nobody waits for a firing's partition.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '../../src/operations/transaction.ts'
import { timers } from '../../src/operations/timers.ts'
import type { TimerOperation } from '../../src/protocol/timer.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { fireTimers } from '../../src/upkeep/fire-timers.ts'
import type { Actor, Outcome } from '../kit/actor.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { inTransaction, interleave, type Step } from '../kit/interleave.ts'
import { deadlocks } from '../kit/soundness.ts'
import { cancelOf, scheduleOf, stepOf } from '../kit/speech.ts'

type World = string

/** One timer that is due, in a queue of its own. */
async function due(own: TestDatabase, nth: number): Promise<World> {
  const queue = `q${nth}`
  await timers(own.database, [[scheduleOf(queue, 'k', { transactionId: 'first' })]])
  return queue
}

const fire =
  (keys = '{k}'): Step<World> =>
  async ({ sql }, queue) => {
    const [row] = await sql('select lockstep.fire_timers($1, $2::text[])', [queue, keys])
    return Number(row?.[0])
  }

const run =
  (operation: (queue: string) => TimerOperation): Step<World> =>
  async ({ db }, queue) =>
    (await timers(db, [[operation(queue)]]))[0]?.[0]?.status

const cancel = run((queue) => cancelOf(queue, 'k'))
const again = run((queue) => scheduleOf(queue, 'k', { delayMs: 86_400_000, transactionId: 'second' }))

/** In a step that wins, and in one that loses by a state that is not there. */
const inStep =
  (loses: boolean, operation: (queue: string) => TimerOperation): Step<World> =>
  async ({ db }, queue) => {
    const check = { op: 'check', ns: 'n', key: 'none', expect: loses ? 1 : 0, required: true } as const
    const [result] = await transaction(db, [stepOf({ timers: [operation(queue)], kv: [check] })])
    assert.ok(result !== undefined && result !== 'deferred')
    return result.success ? result.timers[0]?.status : 'rolled back'
  }

const valueOf = (told: readonly (readonly Outcome[])[], session: number): unknown => {
  const [outcome] = told[session] ?? []
  assert.ok(
    outcome !== undefined && 'value' in outcome,
    outcome !== undefined && 'error' in outcome ? outcome.error : '',
  )
  return outcome.value
}

async function delivered(own: TestDatabase, queue: string): Promise<readonly string[]> {
  return (await drain(own, queue, 'judge')).map(({ transactionId }) => transactionId)
}

async function pending(own: TestDatabase, queue: string): Promise<readonly (string | null)[]> {
  const rows = await own.database.rows('select transaction_id from lockstep.timer where queue_name = $1', [queue])
  return rows.map(([transactionId]) => transactionId ?? null)
}

test('a firing beside a cancel, a new schedule or another firing: one of them has the timer', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<World>(own, {
    name: 'fire | fire',
    setup: due,
    sessions: [inTransaction(fire()), inTransaction(fire())],
    async check(queue, told) {
      assert.equal(Number(valueOf(told, 0)) + Number(valueOf(told, 1)), 1)
      assert.deepEqual([await delivered(own, queue), await pending(own, queue)], [['first'], []])
    },
  })
  const others: readonly (readonly [string, Step<World>, string])[] = [
    ['cancel', cancel, 'cancelled'],
    ['reschedule', again, 'rescheduled'],
    ['cancel in a step', inStep(false, (queue) => cancelOf(queue, 'k')), 'cancelled'],
    [
      'reschedule in a step',
      inStep(false, (queue) => scheduleOf(queue, 'k', { delayMs: 86_400_000, transactionId: 'second' })),
      'rescheduled',
    ],
    ['cancel in a step that loses', inStep(true, (queue) => cancelOf(queue, 'k')), 'rolled back'],
    ['reschedule in a step that loses', inStep(true, (queue) => scheduleOf(queue, 'k', { delayMs: 1 })), 'rolled back'],
  ]
  for (const [name, other, had] of others) {
    await interleave<World>(own, {
      name: `fire | ${name}`,
      setup: due,
      sessions: [inTransaction(fire()), inTransaction(other)],
      async check(queue, told) {
        const fired = Number(valueOf(told, 0))
        const status = String(valueOf(told, 1))
        const taken = status === had && had !== 'rolled back'
        const left = taken && fired === 0 ? [] : ['first']
        // Whoever lost the row to a step that lost looks again: the timer is still there.
        if (status === 'rolled back' && fired === 0) await fireTimers(() => {}).step(own.database)
        assert.ok(!(taken && fired === 1), 'fired and taken away')
        assert.deepEqual(await delivered(own, queue), left)
        const rescheduled = name.startsWith('reschedule') && status !== 'rolled back'
        assert.deepEqual(await pending(own, queue), rescheduled ? ['second'] : [])
      },
    })
  }
  assert.equal(await deadlocks(own), 0)
})

test('two that schedule a new key at once: one schedules, the other replaces it', async (t) => {
  const own = await createTestDatabase(t)
  const statuses = ['rescheduled', 'scheduled']
  const fresh = async (_: TestDatabase, nth: number): Promise<World> => `q${nth}`
  const new1 = (queue: string): TimerOperation => scheduleOf(queue, 'k', { transactionId: '1' })
  const new2 = (queue: string): TimerOperation => scheduleOf(queue, 'k', { transactionId: '2' })
  for (const [a, b] of [
    [run(new1), run(new2)],
    [run(new1), inStep(false, new2)],
    [inStep(false, new1), inStep(false, new2)],
  ] as const) {
    await interleave<World>(own, {
      name: 'schedule | schedule',
      setup: fresh,
      sessions: [inTransaction(a), inTransaction(b)],
      async check(queue, told) {
        assert.deepEqual([String(valueOf(told, 0)), String(valueOf(told, 1))].toSorted(), statuses)
        assert.equal((await pending(own, queue)).length, 1)
      },
    })
  }
  await interleave<World>(own, {
    name: 'schedule in a step that loses | schedule',
    setup: fresh,
    sessions: [inTransaction(inStep(true, new1)), inTransaction(run(new2))],
    async check(queue, told) {
      assert.equal(valueOf(told, 1), 'scheduled', 'what was undone was never there')
      assert.deepEqual(await pending(own, queue), ['2'])
    },
  })
})

test('calls over the same keys in opposite orders never deadlock', async (t) => {
  const own = await createTestDatabase(t)
  const keys = ['a', 'b', 'c']
  const mixed =
    (order: readonly string[], step: boolean): Step<World> =>
    async ({ db }: Actor, queue) => {
      const operations = order.map((key, at) => (at === 1 ? cancelOf(queue, key) : scheduleOf(queue, key, {})))
      if (step) return transaction(db, [stepOf({ timers: operations })])
      return timers(db, [operations])
    }
  for (const made of [true, false]) {
    for (const step of [true, false]) {
      await interleave<World>(own, {
        name: `over keys that ${made ? 'are there' : 'are new'}`,
        async setup(_, nth) {
          const queue = `q${nth}`
          if (made) await timers(own.database, [keys.map((key) => scheduleOf(queue, key, {}))])
          return queue
        },
        sessions: [inTransaction(mixed(keys, step)), inTransaction(mixed(keys.toReversed(), false))],
        async check(_, told) {
          valueOf(told, 0)
          valueOf(told, 1)
        },
      })
    }
  }
  assert.equal(await deadlocks(own), 0)
})

test('a timer that somebody holds is passed by and fires in a later round; a full page of them holds up nobody', async (t) => {
  const own = await createTestDatabase(t)
  const told: string[] = []
  const job = fireTimers((queue) => told.push(queue))
  const held = Array.from({ length: 500 }, (_, n) => scheduleOf('held', `k${n}`, {}))
  for (let from = 0; from < held.length; from += 250) await timers(own.database, [held.slice(from, from + 250)])
  await timers(own.database, [[scheduleOf('free', 'k', {})]])
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run(`select 1 from lockstep.timer where queue_name = 'held' for no key update`)
  assert.deepEqual(await job.step(own.database), { done: 0, more: true })
  assert.deepEqual(await job.step(own.database), { done: 1, more: false })
  assert.deepEqual(told, ['free'])
  await holder.run('commit')
  // The next round begins at a floor; what was passed by is found by a round from the beginning.
  let done = 0
  const deadline = performance.now() + 20_000
  while (done < 500 && performance.now() < deadline) done += (await job.step(own.database)).done
  assert.equal(done, 500)
})

test('a firing whose process dies has not happened; the next one fires', async (t) => {
  const own = await createTestDatabase(t)
  const queue = await due(own, 0)
  const dying = await own.connect()
  await dying.query('begin')
  const { rows } = await dying.query(`select lockstep.fire_timers($1, '{k}') as n`, [queue])
  assert.equal(rows[0]?.n, 1)
  dying.on('error', () => {})
  const [pid] = (await dying.query('select pg_backend_pid() as pid')).rows
  const job = fireTimers(() => {})
  assert.equal((await job.step(own.database)).done, 0)
  await own.database.pool.query('select pg_terminate_backend($1, 20000)', [pid?.pid])
  assert.equal((await fireTimers(() => {}).step(own.database)).done, 1)
  assert.deepEqual(await delivered(own, queue), ['first'])
})

test('a firing waits for no partition, and a full queue keeps its timers for later', async (t) => {
  const own = await createTestDatabase(t)
  const queue = await due(own, 0)
  await own.database.rows(`select lockstep.push($1, '1')`, [queue])
  await drain(own, queue, 'g')
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run('select 1 from lockstep.partition for no key update')
  assert.equal((await fireTimers(() => {}).step(own.database)).done, 1)
  await holder.run('commit')
  assert.equal((await drain(own, queue, 'g')).length, 1)

  await own.database.rows(`select lockstep.configure('full', '{"maxSize": 3}')`, [])
  await timers(own.database, [Array.from({ length: 5 }, (_, n) => scheduleOf('full', `k${n}`, { delayMs: n }))])
  const job = fireTimers(() => {})
  await moveClock(own, 1)
  assert.equal((await job.step(own.database)).done, 3, 'in the order of their time, as many as fit')
  const [late] = await own.database.rows(
    `select string_agg(key || ' ' || attempts || ' ' || last_error, ', ' order by key) from lockstep.timer`,
    [],
  )
  assert.deepEqual(late, ['k3 1 queue_full, k4 1 queue_full'])
  assert.equal((await drain(own, 'full', 'g')).length, 3)
  assert.equal((await job.step(own.database)).done, 0, 'not again at once')
  await moveClock(own, 61)
  assert.equal((await fireTimers(() => {}).step(own.database)).done, 2)
  assert.equal((await drain(own, 'full', 'g')).length, 2)
})

test('a round begins where the last one ended, and the wait until the next timer is told', async (t) => {
  const own = await createTestDatabase(t)
  await timers(own.database, [
    [scheduleOf('q', 'soon', { delayMs: 300 }), scheduleOf('q', 'late', { delayMs: 3_600_000 })],
  ])
  const job = fireTimers(() => {})
  const first = await job.step(own.database)
  assert.equal(first.done, 0)
  assert.ok(first.waitMs !== undefined && first.waitMs <= 300, `${first.waitMs}`)
  await moveClock(own, 1)
  const second = await job.step(own.database)
  assert.equal(second.done, 1)
  assert.equal(second.waitMs, undefined, 'an hour is longer than the pause')
  const plan = await own.database.pool.query<{ 'QUERY PLAN': string }>(
    `explain select queue_name, key from lockstep.timer t where t.fire_at >= '-infinity' and t.fire_at <= clock_timestamp()
      and (t.fire_at, t.queue_name, t.key) > ('-infinity', '', '') order by t.fire_at, t.queue_name, t.key limit 500`,
  )
  assert.match(plan.rows.map((row) => row['QUERY PLAN']).join('\n'), /timer_due/)
})
