// Random programs over timers against a model of their rules: a schedule replaces, a cancel takes back, and what is due when the
// timers are looked at is delivered once, in the order of its time.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { getTimer } from '../../src/operations/get-timer.ts'
import { listTimers } from '../../src/operations/list-timers.ts'
import { timers } from '../../src/operations/timers.ts'
import type { TimerOperation } from '../../src/protocol/timer.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { fireTimers } from '../../src/upkeep/fire-timers.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { cancelOf, scheduleOf } from '../kit/speech.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const STEP_S = 1_000
const KEYS = ['a', 'b', 'c']

interface Pending {
  readonly transactionId: string
  readonly at: number
  /** Of two that are due together the one of the earlier call comes first, in one call that of the lower key. */
  readonly call: number
}

interface World {
  readonly own: TestDatabase
  readonly queue: string
  now: number
  scheduled: number
  calls: number
  readonly pending: Map<string, Pending>
  readonly fired: string[]
}

const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant('schedule' as const),
      key: fc.constantFrom(...KEYS),
      steps: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel' as const), key: fc.constantFrom(...KEYS) }) },
)
const draws = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant('call' as const),
      operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('fire' as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('pass' as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('look' as const) }) },
)

type Drawn =
  | { readonly op: 'schedule'; readonly key: string; readonly steps: number }
  | { readonly op: 'cancel'; readonly key: string }

async function call(world: World, drawn: readonly Drawn[]): Promise<void> {
  const expected: string[] = []
  const nth = (world.calls += 1)
  const operations = drawn.map((each): TimerOperation => {
    const known = world.pending.get(each.key)
    if (each.op === 'cancel') {
      world.pending.delete(each.key)
      expected.push(known === undefined ? 'absent' : 'cancelled')
      return cancelOf(world.queue, each.key)
    }
    const transactionId = `t${(world.scheduled += 1)}`
    world.pending.set(each.key, { transactionId, at: world.now + each.steps * STEP_S, call: nth })
    expected.push(known === undefined ? 'scheduled' : 'rescheduled')
    return scheduleOf(world.queue, each.key, { transactionId, delayMs: each.steps * STEP_S * 1000 })
  })
  const [results = []] = await timers(world.own.database, [operations])
  assert.deepEqual(
    results.map(({ status }) => status),
    expected,
  )
}

async function fire({ own, pending, fired, now }: World): Promise<void> {
  const job = fireTimers(() => {})
  while ((await job.step(own.database)).more) continue
  const due = [...pending].filter(([, { at }]) => at <= now)
  for (const [key] of due) pending.delete(key)
  fired.push(...due.toSorted(byTime).map(([, { transactionId }]) => transactionId))
}

function byTime([keyA, a]: readonly [string, Pending], [keyB, b]: readonly [string, Pending]): number {
  return a.at - b.at || a.call - b.call || (keyA < keyB ? -1 : 1)
}

async function look({ own, queue, pending }: World): Promise<void> {
  const { timers: listed } = await listTimers(own.database, queue, '', 10)
  assert.deepEqual(
    listed.map(({ key, transactionId }) => [key, transactionId]),
    KEYS.flatMap((key) => {
      const timer = pending.get(key)
      return timer === undefined ? [] : [[key, timer.transactionId]]
    }),
  )
  for (const key of KEYS) {
    const timer = await getTimer(own.database, queue, key)
    assert.equal(timer?.transactionId, pending.get(key)?.transactionId)
  }
}

test('every answer to a random program of timers is the one that their rules give, and each fires once', async (t) => {
  const own = await createTestDatabase(t)
  await moveClock(own, 0)
  let programs = 0
  const property = fc.asyncProperty(fc.array(draws, { maxLength: 25 }), async (program) => {
    const queue = `q${(programs += 1)}`
    const world: World = { own, queue, now: 0, scheduled: 0, calls: 0, pending: new Map(), fired: [] }
    for (const drawn of [...program, { op: 'look' as const }]) {
      if (drawn.op === 'call') await call(world, drawn.operations)
      else if (drawn.op === 'fire') await fire(world)
      else if (drawn.op === 'look') await look(world)
      else {
        await moveClock(own, STEP_S)
        world.now += STEP_S
      }
    }
    await moveClock(own, STEP_S * 4)
    world.now += STEP_S * 4
    await fire(world)
    const delivered = (await drain(own, queue, 'judge')).map(({ transactionId }) => transactionId)
    assert.deepEqual(delivered, world.fired)
  })
  const { LOCKSTEP_SEED: seed, LOCKSTEP_PATH: path } = process.env
  await fc.assert(property, {
    numRuns: LONG ? 2_000 : 60,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  })
})
