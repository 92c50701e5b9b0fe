// Many writers at once, some holding their transactions open: what was committed is read, once, in an order that nobody who
// took part could call wrong; and an open transaction holds up nobody.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { stage } from '../../../src/operations/stage.ts'
import { transaction } from '../../../src/operations/transaction.ts'
import type { Delivery } from '../../../src/protocol/message.ts'
import { createTestDatabase, type TestDatabase } from '../../../src/testing/database.ts'
import { openActor } from '../../kit/actor.ts'
import { byPartition, drain } from '../../kit/drain.ts'
import { assertSound, deadlocks } from '../../kit/soundness.ts'
import { ackOf, item, popOf, stepOf } from '../../kit/speech.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const WRITERS = 16
const MESSAGES = 20_000
const HOLD_MS = LONG ? 500 : 60
const PARTITIONS = ['p0', 'p1', 'p2', 'p3']

/** What one transaction put into one partition, and when it began and was known to be committed. */
interface Written {
  readonly partition: string
  readonly names: readonly string[]
  readonly began: number
  readonly ended: number
}

/** Reads with several consumers until `all` messages were acked. */
async function read(own: TestDatabase, all: () => number | null): Promise<readonly Delivery[]> {
  const seen: Delivery[] = []
  async function consume(): Promise<void> {
    for (let floor: string | null = null; seen.length < (all() ?? Infinity);) {
      const outcome = await pop(own.database, popOf('q', 'g', { batch: 100, partitions: 1, floor }))
      floor = null
      const got = outcome.answers.flat()
      seen.push(...got)
      if (got.length > 0) await ack(own.database, [got.map((one) => ackOf(one))])
    }
  }
  await Promise.all(Array.from({ length: 3 }, () => consume()))
  return seen
}

test('what sixteen writers commit, whatever they hold open, is read once, each in his order, later ones later', async (t) => {
  const own = await createTestDatabase(t, { connections: 4, lockTimeoutMs: 30_000 })
  const written: Written[] = []
  const perWriter = MESSAGES / WRITERS
  async function write(writer: number): Promise<void> {
    const user = await openActor(own, `writer ${writer}`)
    for (let from = 0, turn = 0; from < perWriter; turn++) {
      const size = Math.min(1 + ((writer * 7 + turn * 13) % 60), perWriter - from)
      const partition = PARTITIONS[(writer + turn) % PARTITIONS.length] ?? 'p0'
      const names = Array.from({ length: size }, (_, at) => `${writer}-${from + at}`)
      from += size
      const began = performance.now()
      if (turn % 4 === 3)
        await push(
          own.database,
          names.map((name) => item('q', partition, name)),
        )
      else {
        await user.sql('begin')
        // In two statements, with the hold between them.
        await stage(
          user.door,
          names.slice(0, size >> 1).map((name) => item('q', partition, name)),
        )
        await user.sql('select pg_sleep($1)', [String((Math.random() * HOLD_MS) / 1000)])
        await stage(
          user.door,
          names.slice(size >> 1).map((name) => item('q', partition, name)),
        )
        await user.sql(turn % 9 === 8 ? 'rollback' : 'commit')
        if (turn % 9 === 8) {
          await push(
            own.database,
            names.map((name) => item('q', partition, name)),
          )
        }
      }
      written.push({ partition, names, began, ended: performance.now() })
    }
  }
  let total: number | null = null
  const reading = read(own, () => total)
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  total = MESSAGES
  const seen = byPartition(await reading)

  assert.deepEqual(Object.values(seen).flat().toSorted(), written.flatMap((one) => one.names).toSorted())
  for (const partition of PARTITIONS) {
    const place = new Map((seen[partition] ?? []).map((name, at) => [name, at]))
    const spans = written
      .filter((one) => one.partition === partition)
      .map((one) => ({ ...one, places: one.names.map((name) => place.get(name) ?? NaN) }))
    for (const { places, names } of spans)
      assert.ok(
        places.every((at, nth) => nth === 0 || at > (places[nth - 1] ?? Infinity)),
        `the own order of ${names[0]}`,
      )
    // Sorted by their end: whoever began after it must come after everything of it.
    let highest = -1
    const ends = spans.toSorted((a, b) => a.ended - b.ended)
    let done = 0
    for (const span of spans.toSorted((a, b) => a.began - b.began)) {
      for (let end = ends[done]; end !== undefined && end.ended < span.began; end = ends[++done])
        highest = Math.max(highest, ...end.places)
      assert.ok(
        Math.min(...span.places) > highest,
        `${span.names[0]} began after another had committed, and came before`,
      )
    }
  }
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})

test('while 200 transactions hold a staged push to one partition open nobody waits, and each keeps its order', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 1000 })
  const OPEN = 200
  await push(own.database, [item('q', 'p', 'before')])
  const users = []
  for (let at = 0; at < OPEN; at++) users.push(await openActor(own, `user ${at}`))
  const staged = (at: number): readonly string[] => Array.from({ length: 3 }, (_, nth) => `${at}-${nth}`)
  await Promise.all(
    users.map(async (user, at) => {
      await user.sql('begin')
      for (const name of staged(at).slice(0, 2)) await stage(user.door, [item('q', 'p', name)])
      await user.sql('savepoint s')
      await stage(user.door, [item('q', 'p', `undone ${at}`)])
      await user.sql('rollback to s')
      await stage(user.door, [item('q', 'p', staged(at)[2] ?? '')])
    }),
  )
  assert.deepEqual(
    await own.database.reader.rows(
      'select * from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())',
      [],
    ),
    [],
  )
  const [plain] = await push(own.database, [item('q', 'p', 'plain')])
  assert.equal(plain?.offset, 1)
  const [step] = await transaction(own.database, [stepOf({ pushes: [item('q', 'p', 'step')] })])
  assert.ok(step !== undefined && step !== 'deferred' && step.success)
  assert.deepEqual(byPartition(await drain(own, 'q', 'g')), { p: ['before', 'plain', 'step'] })
  assert.deepEqual(
    await own.database.reader.rows(
      'select * from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())',
      [],
    ),
    [],
  )

  const expected: string[] = []
  const reading = Promise.all([drain(own, 'q', 'g'), drain(own, 'q', 'g')])
  await Promise.all(
    users.map(async (user, at) => {
      await user.sql(at % 5 === 4 ? 'rollback' : 'commit')
      if (at % 5 !== 4) expected.push(...staged(at))
    }),
  )
  const seen = [...(await reading).flat(), ...(await drain(own, 'q', 'g'))].map((one) => one.transactionId)
  assert.deepEqual(seen.toSorted(), expected.toSorted())
  for (let at = 0; at < OPEN; at++) {
    const mine = seen.filter((name) => name.startsWith(`${at}-`))
    assert.deepEqual(mine, at % 5 === 4 ? [] : staged(at))
  }
  await assertSound(own)
})

test('steps of 32 workers that all push to one partition neither queue up nor lose or double anything', async (t) => {
  const own = await createTestDatabase(t, { connections: 32, lockTimeoutMs: 20_000 })
  const WORKERS = 32
  const STEPS = LONG ? 200 : 15
  const inputs = Array.from({ length: WORKERS * STEPS }, (_, at) => item('in', `p${at % WORKERS}`, `m${at}`))
  await push(own.database, inputs)
  async function work(worker: number): Promise<void> {
    for (let done = 0; done < STEPS; done++) {
      const request = popOf('in', 'g', { partition: `p${worker}`, batch: 1 })
      let got: readonly Delivery[] = []
      while (got.length === 0) got = (await pop(own.database, request)).answers.flat()
      const [one] = got
      if (!one) continue
      const output = item('out', 'target', one.transactionId)
      const [result] = await transaction(own.database, [stepOf({ acks: [ackOf(one)], pushes: [output] })])
      assert.ok(result !== undefined && result !== 'deferred' && result.success)
    }
  }
  const reader = drain(own, 'out', 'g')
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)))
  const seen = [...(await reader), ...(await drain(own, 'out', 'g'))]
  assert.deepEqual(
    seen.map((one) => one.transactionId).toSorted(),
    inputs.map((one) => one.transactionId ?? '').toSorted(),
  )
  assert.deepEqual(
    seen.map((one) => one.offset),
    seen.map((_, at) => at),
  )
  // Of one worker the outputs stand in the order of his inputs.
  for (let worker = 0; worker < WORKERS; worker++) {
    const mine = seen.map((one) => Number(one.transactionId.slice(1))).filter((at) => at % WORKERS === worker)
    assert.deepEqual(
      mine,
      mine.toSorted((a, b) => a - b),
    )
  }
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})

test('10,000 partitions with one message each reach 16 consumers, every message once, without a deadlock', async (t) => {
  const own = await createTestDatabase(t, { connections: 16, lockTimeoutMs: 20_000 })
  const COUNT = 10_000
  for (let from = 0; from < COUNT; from += 1000)
    await push(
      own.database,
      Array.from({ length: 1000 }, (_, at) => item('q', `p${from + at}`, `m${from + at}`)),
    )
  const seen: string[] = []
  async function consume(nth: number): Promise<void> {
    while (seen.length < COUNT) {
      const { answers } = await pop(own.database, popOf('q', 'g', { batch: 50, partitions: 50 }))
      const got = answers.flat()
      seen.push(...got.map((one) => one.transactionId))
      if (got.length > 0) await ack(own.database, [got.map((one) => ackOf(one))])
      // Some come a second time, while others are still at their first.
      if (nth === 0 && seen.length < COUNT / 2)
        await push(own.database, [item('q', `p${seen.length}`, `m${seen.length}`)])
    }
  }
  await Promise.all(Array.from({ length: 16 }, (_, nth) => consume(nth)))
  assert.equal(new Set(seen).size, COUNT)
  assert.equal(seen.length, COUNT)
  assert.deepEqual(await drain(own, 'q', 'g'), [])
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})
