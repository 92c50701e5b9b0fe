// Random programs over what time does to a queue: messages that may not be delivered yet, partitions that rest after a push, pops
// that are held for more, and logs that are cut by age or by what every group has passed. The model knows nothing but steps of
// the clock and counts offsets; bounds lie between two steps, so that the time that passes by itself changes no answer.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { moveClock } from '../kit/clock.ts'
import { assertSound } from '../kit/soundness.ts'
import { item, popOf } from '../kit/speech.ts'

const RUNS = process.env['LOCKSTEP_LONG'] === '1' ? 2_000 : 80
const STEP_S = 1_000
const HOLD_MS = 60_000
const GROUPS = ['g', 'h']

interface Log {
  /** The step of the clock at which each message was pushed. */
  readonly at: number[]
  start: number
  readonly cursors: Map<string, number>
}

interface Bounds {
  /** In steps; a half lies between two. */
  readonly delay: number
  readonly rest: number
  readonly holds: boolean
}

const partition = fc.constantFrom('p1', 'p2', 'p3')
const ages = fc.constantFrom(0.5, 1.5, 2.5)
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('push' as const), to: partition, count: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('move' as const), steps: fc.integer({ min: 1, max: 2 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pop' as const),
      by: fc.constantFrom(...GROUPS),
      batch: fc.integer({ min: 1, max: 6 }),
      from: fc.option(partition, { freq: 3 }),
      waited: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('cut' as const),
      by: fc.constantFrom('age', 'wait', 'done'),
      older: ages,
    }),
  },
)
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

const boundsDrawn: fc.Arbitrary<Bounds> = fc.record({
  delay: fc.constantFrom(0, 0.5, 1.5),
  rest: fc.constantFrom(0, 0, 0.5),
  holds: fc.boolean(),
})

class Model {
  now = 0
  readonly known = new Set<string>()
  readonly logs = new Map<string, Log>()

  readonly bounds: Bounds

  constructor(of: Bounds) {
    this.bounds = of
  }

  log(name: string): Log {
    const log = this.logs.get(name) ?? { at: [], start: 0, cursors: new Map<string, number>() }
    this.logs.set(name, log)
    return log
  }

  cursor(log: Log, group: string): number {
    return Math.max(log.cursors.get(group) ?? 0, log.start)
  }

  /** How many messages of the partition may be delivered to the group now. */
  ripe(name: string, group: string): number {
    const log = this.log(name)
    const last = log.at.at(-1)
    if (last === undefined || (this.bounds.rest > 0 && this.now - last < this.bounds.rest)) return 0
    const old = log.at.filter((at) => this.now - at >= this.bounds.delay).length
    return Math.max(0, old - this.cursor(log, group))
  }

  cut(by: string, older: number): void {
    for (const log of this.logs.values()) {
      const aged = log.at.filter((at) => this.now - at > older).length
      const passed = Math.min(...[...this.known].map((group) => this.cursor(log, group)), log.at.length)
      const until = by === 'done' ? Math.min(aged, this.known.size === 0 ? 0 : passed) : aged
      log.start = Math.max(log.start, until)
    }
  }
}

const CUT = `select lockstep._cut_partitions(q.id, array(select p.id from lockstep.partition p where p.queue_id = q.id order by p.id),
  case $2 when 'wait' then a.before end, case $2 when 'age' then a.before end, case $2 when 'done' then a.before end)
  from lockstep.queue q cross join (select lockstep.clock() - make_interval(secs => $3::float8) as before) a where q.name = $1`

async function run(own: TestDatabase, queue: string, model: Model, one: Operation): Promise<void> {
  const { database } = own
  switch (one.kind) {
    case 'push': {
      const log = model.log(one.to)
      const names = Array.from({ length: one.count }, (_, nth) => `${one.to}-${log.at.length + nth}`)
      await push(
        database,
        names.map((name) => item(queue, one.to, name)),
      )
      for (const _ of names) log.at.push(model.now)
      return
    }
    case 'move':
      await moveClock(own, one.steps * STEP_S)
      model.now += one.steps
      return
    case 'cut':
      await database.rows(CUT, [queue, one.by, String(one.older * STEP_S)])
      model.cut(one.by, one.older)
      return
    case 'pop':
      await popped(own, queue, model, one)
  }
}

async function popped(
  own: TestDatabase,
  queue: string,
  model: Model,
  { by, batch, from, waited }: Extract<Operation, { kind: 'pop' }>,
): Promise<void> {
  const over = { batch, partitions: 9, autoAck: true, partition: from, heldMs: waited ? HOLD_MS : 0 }
  const look = () => pop(own.database, popOf(queue, by, over))
  let outcome = await look()
  while (outcome.again === 'backfill') outcome = await look()
  model.known.add(by)
  const names = from === null ? [...model.logs.keys()] : [from]
  const ripe = new Map(names.map((name) => [name, model.ripe(name, by)]))
  const there = [...ripe.values()].reduce((sum, count) => sum + count, 0)
  const got = outcome.answers.flat()
  if (model.bounds.holds && from === null && !waited && there > 0 && there < batch) {
    assert.deepEqual([got.length, outcome.again], [0, 'held'])
    return
  }
  assert.deepEqual([got.length, outcome.again], [Math.min(there, batch), 'no'])
  for (const [name, count] of ripe) {
    const mine = got.filter((message) => message.partition === name)
    assert.ok(mine.length <= count, `${mine.length} of ${name}, of which ${count} may be delivered`)
    const log = model.log(name)
    const cursor = model.cursor(log, by)
    assert.deepEqual(
      mine.map((message) => [message.offset, message.transactionId]),
      mine.map((_, nth) => [cursor + nth, `${name}-${cursor + nth}`]),
    )
    log.cursors.set(by, cursor + mine.length)
  }
}

test('delays, rests, holds and cuts deliver in random programs what the model delivers', async (t) => {
  const own = await createTestDatabase(t)
  const { LOCKSTEP_SEED: seed, LOCKSTEP_PATH: path } = process.env
  let nth = 0
  const property = fc.asyncProperty(
    boundsDrawn,
    fc.array(operation, { maxLength: 30, size: 'max' }),
    async (drawn, program) => {
      const queue = `q${(nth += 1)}`
      const options = {
        delayedProcessing: drawn.delay * STEP_S,
        windowBuffer: drawn.rest * STEP_S,
        minPopWaitTime: drawn.holds ? HOLD_MS : 0,
        dedupWindowSeconds: 0,
      }
      await own.database.rows('select lockstep.configure($1, $2::json)', [queue, JSON.stringify(options)])
      const model = new Model(drawn)
      for (const one of program) await run(own, queue, model, one)
      await assertSound(own, queue)
    },
  )
  await fc.assert(property, {
    numRuns: RUNS,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  })
})
