// Random concurrent histories: producers that push, hold transactions and roll back, consumers that finish, fail, hand back or
// vanish, a clock that lets leases lapse, and connections that are cut. At the end the client's log and the tables must agree:
// of every message each group has one committed effect or one dead letter, in the order of its partition, and nothing else.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { release } from '../../src/operations/release.ts'
import { stage } from '../../src/operations/stage.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { Delivery, PushItem } from '../../src/protocol/message.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { administer, createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openActor } from '../kit/actor.ts'
import { moveClock } from '../kit/clock.ts'
import { byPartition, drain } from '../kit/drain.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'

const LONG = process.env['LOCKSTEP_LONG'] === '1'
const ROUNDS = LONG ? 150 : 4
const LEASE_S = 100
const GROUPS = ['g', 'h']
const PARTITIONS = ['p1', 'p2', 'p3']

type Produce = { readonly how: 'push' | 'commit' | 'rollback'; readonly partition: string; readonly count: number }
type Consume = {
  readonly how: 'step' | 'part' | 'fail' | 'dlq' | 'release' | 'vanish' | 'late'
  readonly batch: number
  readonly one: boolean
}
type Trouble = 'lapse' | 'cut' | 'none'

const history = fc.record({
  producers: fc.array(
    fc.array(
      fc.record({
        how: fc.constantFrom<Produce['how'][]>('push', 'push', 'commit', 'rollback'),
        partition: fc.constantFrom(...PARTITIONS),
        count: fc.integer({ min: 1, max: 8 }),
      }),
      { minLength: 10, maxLength: 25 },
    ),
    { minLength: 3, maxLength: 3 },
  ),
  consumers: fc.array(
    fc.array(
      fc.record({
        how: fc.constantFrom<Consume['how'][]>(
          'step',
          'step',
          'step',
          'part',
          'fail',
          'dlq',
          'release',
          'vanish',
          'vanish',
          'late',
          'late',
        ),
        batch: fc.integer({ min: 1, max: 10 }),
        one: fc.boolean(),
      }),
      { minLength: 15, maxLength: 30 },
    ),
    { minLength: 4, maxLength: 4 },
  ),
  troubles: fc.array(fc.constantFrom<Trouble[]>('lapse', 'cut', 'none'), { minLength: 4, maxLength: 10 }),
})

test('after any concurrent history each group has one effect or one dead letter of every message, in order', async (t) => {
  const seed = Number(process.env['LOCKSTEP_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`replay: LOCKSTEP_SEED=${seed}`)
  for (const [nth, drawn] of fc.sample(history, { numRuns: ROUNDS, seed }).entries()) {
    const own = await createTestDatabase(t, { connections: 6, lockTimeoutMs: 5_000 })
    try {
      await live(own, drawn)
    } catch (error) {
      throw new Error(`history ${nth} of LOCKSTEP_SEED=${seed}: ${String(error)}`, { cause: error })
    }
    await own.drop()
  }
})

async function live(own: TestDatabase, drawn: typeof history extends fc.Arbitrary<infer H> ? H : never): Promise<void> {
  const options = { leaseTime: LEASE_S, retryDelay: 0, retryLimit: 2, crashLimit: 3 }
  await own.database.rows('select * from lockstep.configure($1, $2::json)', ['in', JSON.stringify(options)])
  // Whatever is done twice must show.
  await own.database.rows('select * from lockstep.configure($1, $2::json)', ['out', '{"dedupWindowSeconds":0}'])
  const pushed = new Set<string>()
  let producing = drawn.producers.length
  await Promise.all([
    ...drawn.producers.map(async (program, nth) => {
      await produce(own, program, nth, pushed)
      producing--
    }),
    ...drawn.consumers.map((program, nth) => consume(own, program, GROUPS[nth % 2] ?? 'g', () => producing > 0)),
    disturb(own, drawn.troubles),
  ])
  // Those that vanished lapse; the rest is finished by an honest consumer.
  for (let turn = 0; turn < 6; turn++) {
    await moveClock(own, LEASE_S + 1)
    for (const group of GROUPS) await finish(own, group)
  }
  await assertSound(own)
  await agree(own, pushed)
  assert.equal(await deadlocks(own), 0)
}

async function produce(
  own: TestDatabase,
  program: readonly Produce[],
  nth: number,
  pushed: Set<string>,
): Promise<void> {
  const user = await openActor(own, `user ${nth}`)
  for (const [turn, { how, partition, count }] of program.entries()) {
    const names = Array.from({ length: count }, (_, at) => `${nth}-${turn}-${at}`)
    const items = names.map((name) => item('in', partition, name))
    if (how === 'push') await certain(() => push(own.database, items))
    else {
      await user.sql('begin')
      await stage(user.door, items.slice(0, 1))
      await own.database.reader.rows('select 1', []).catch(() => [])
      await stage(user.door, items.slice(1))
      await user.sql(how)
    }
    if (how !== 'rollback') for (const name of names) pushed.add(name)
  }
}

/** Again until the answer is certain: the ids make that harmless. */
async function certain<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!isTrouble(error)) throw error
    }
  }
}

const isTrouble = (error: unknown): boolean =>
  error instanceof LockstepError && ['unavailable', 'outcome_unknown', 'busy'].includes(error.code)

async function consume(
  own: TestDatabase,
  program: readonly Consume[],
  group: string,
  busy: () => boolean,
): Promise<void> {
  // What was taken and forgotten; a late worker comes back with it when its lease may be another's.
  const forgotten: (readonly Delivery[])[] = []
  for (const { how, batch, one } of program) {
    if (how === 'late') {
      await work(own, group, 'step', forgotten.shift() ?? []).catch((error: unknown) =>
        isTrouble(error) ? null : Promise.reject(error),
      )
      continue
    }
    let got: readonly Delivery[] = []
    do {
      const request = popOf('in', group, { batch, partitions: one ? 1 : 3, leaseSeconds: null })
      got = await pop(own.database, request).then(
        ({ answers }) => answers.flat(),
        (error: unknown) => (isTrouble(error) ? [] : Promise.reject(error)),
      )
    } while (got.length === 0 && busy())
    if (how === 'vanish') forgotten.push(got)
    // An answer that is lost is a message that comes again, or that is done: the tables know.
    await work(own, group, how, got).catch((error: unknown) => (isTrouble(error) ? null : Promise.reject(error)))
  }
}

async function work(own: TestDatabase, group: string, how: Consume['how'], got: readonly Delivery[]): Promise<void> {
  const [first] = got
  if (first === undefined || how === 'vanish') return
  if (how === 'release') await release(own.database, first.leaseId)
  else if (how === 'fail' || how === 'dlq') await ack(own.database, [[ackOf(first, how === 'fail' ? 'failed' : 'dlq')]])
  else await step(own, group, how === 'part' ? got.slice(0, 1 + (got.length >> 1)) : got)
}

const effect = (group: string, one: Delivery): PushItem =>
  item('out', `${group} ${one.partition}`, `${group} ${one.transactionId}`)

async function step(own: TestDatabase, group: string, got: readonly Delivery[]): Promise<void> {
  const request = stepOf({ acks: got.map((one) => ackOf(one)), pushes: got.map((one) => effect(group, one)) })
  await transaction(own.database, [request])
}

async function finish(own: TestDatabase, group: string): Promise<void> {
  for (;;) {
    const { answers, again } = await pop(own.database, popOf('in', group, { batch: 100, leaseSeconds: null }))
    const got = answers.flat()
    if (got.length === 0 && again === 'no') return
    if (got.length > 0) await step(own, group, got)
  }
}

async function disturb(own: TestDatabase, troubles: readonly Trouble[]): Promise<void> {
  for (const trouble of troubles) {
    // One whose connection was cut did not lapse; the next one may.
    if (trouble === 'lapse') await moveClock(own, LEASE_S + 1).catch(() => null)
    if (trouble === 'cut')
      await administer((client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = $1 and application_name = 'lockstep' order by random() limit 2`,
          [own.name],
        ),
      )
    for (let look = 0; look < 20; look++) await own.database.reader.rows('select 1', []).catch(() => [])
  }
}

async function agree(own: TestDatabase, pushed: ReadonlySet<string>): Promise<void> {
  const sources = byPartition(await drain(own, 'in', 'judge', { autoAck: true }))
  assert.deepEqual(Object.values(sources).flat().toSorted(), [...pushed].toSorted())
  const effects = byPartition(await drain(own, 'out', 'judge', { autoAck: true }))
  const letters = await own.database.reader.rows(
    'select group_name, partition_name, transaction_id from lockstep.dead_letter',
    [],
  )
  for (const group of GROUPS)
    for (const [partition, names] of Object.entries(sources)) {
      const buried = letters.filter(([by, at]) => by === group && at === partition).map(([, , name]) => name ?? '')
      const done = effects[`${group} ${partition}`] ?? []
      assert.deepEqual(
        done,
        names.filter((name) => !buried.includes(name)).map((name) => `${group} ${name}`),
        `the effects of ${group} on ${partition}`,
      )
      assert.equal(new Set(buried).size, buried.length)
    }
}
