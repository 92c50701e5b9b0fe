// A step said twice is done once: whoever says it at the same time, after a lost answer, or while the first is still under way,
// gets the first committed answer; what rolled back is judged again.
import assert from 'node:assert/strict'
import test from 'node:test'
import { push } from '../../src/operations/push.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { TransactionRequest } from '../../src/protocol/transaction.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openActor, type Outcome } from '../kit/actor.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { inTransaction, interleave } from '../kit/interleave.ts'
import { quiet } from '../kit/quiet.ts'
import { deadlocks } from '../kit/soundness.ts'
import { item, putOf, stepOf } from '../kit/speech.ts'

interface Asked {
  readonly id: string
  readonly queue: string
}

const step = ({ id, queue }: Asked, expect: number | null = null): TransactionRequest =>
  stepOf({ requestId: id, pushes: [item(queue, 'p', null)], kv: [putOf('requests', id, '1', expect)] })

const asked = (nth: number): Asked => ({ id: `id-${nth}`, queue: `asked${nth}` })

async function effects(own: TestDatabase, { id, queue }: Asked): Promise<readonly number[]> {
  const messages = await drain(own, queue, 'g', { autoAck: true })
  const [row] = await own.database.reader.rows('select count(*) from lockstep.kv where key = $1 and version > 0', [id])
  return [messages.length, Number(row?.[0])]
}

function results(told: readonly (readonly Outcome[])[]): readonly string[] {
  return told.map(([outcome]) => {
    assert.ok(outcome !== undefined && 'value' in outcome, JSON.stringify(outcome))
    return JSON.stringify(outcome.value, (key, value: unknown) => (key === 'replayed' ? undefined : value))
  })
}

test('two calls with one request id at once have one effect and one answer, whoever commits first', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<Asked>(own, {
    name: 'step | the same step',
    setup: (_own, nth) => Promise.resolve(asked(nth)),
    sessions: [
      inTransaction(({ db }, world) => transaction(db, [step(world)])),
      inTransaction(({ db }, world) => transaction(db, [step(world)])),
    ],
    async check(world, told, at) {
      const [first, second] = results(told)
      assert.equal(first, second)
      assert.match(first ?? '', /"success":true/)
      assert.deepEqual(await effects(at, world), [1, 1])
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('the second of two waits, and is judged itself when the first rolls back', async (t) => {
  const own = await createTestDatabase(t)
  const [first, second] = [await openActor(own, 'first'), await openActor(own, 'second')]
  const world = asked(0)
  await first.sql('begin')
  await transaction(first.db, [step(world)])
  const waiting = second.hand(() => transaction(second.db, [step(world)]))
  assert.deepEqual(
    (await quiet(own, [second])).map((one) => one.name),
    ['second'],
  )
  await first.sql('rollback')
  const outcome = await waiting
  assert.ok('value' in outcome && JSON.stringify(outcome.value).includes('"replayed":false'))
  assert.deepEqual(await effects(own, world), [1, 1])
})

test('calls that join the same ids in crossing orders, with other steps between them, meet no deadlock', async (t) => {
  const own = await createTestDatabase(t, { connections: 8, lockTimeoutMs: 20_000 })
  const ids = Array.from({ length: 12 }, (_, nth) => asked(nth))
  const rounds = Array.from({ length: 24 }, (_, nth) =>
    (nth % 2 === 0 ? ids : ids.toReversed()).slice(nth % 4, (nth % 4) + 6).map((one) => step(one)),
  )
  const answers = (await Promise.all(rounds.map((steps) => transaction(own.database, steps)))).flat()
  assert.ok(answers.every((one) => one !== 'deferred' && one.success))
  for (const one of ids.slice(0, 9)) assert.deepEqual(await effects(own, one), [1, 1])
  assert.equal(await deadlocks(own), 0)
})

test('what rolled back is judged again, another body is refused, and after a day the id is free', async (t) => {
  const own = await createTestDatabase(t)
  const world = asked(0)
  const say = async (request: TransactionRequest): Promise<unknown> => {
    const [told] = await transaction(own.database, [request])
    assert.ok(told !== undefined && told !== 'deferred')
    return told.success ? (told.replayed ? 'replayed' : 'done') : told.reason
  }
  assert.equal(await say(step(world, 7)), 'kv_precondition')
  assert.equal(await say(step(world)), 'done')
  assert.equal(await say(step(world, 7)), 'replayed')
  assert.equal(await say({ ...step(world), bodyHash: 'another' }), 'request_conflict')
  assert.deepEqual(await effects(own, world), [1, 1])
  await moveClock(own, 86_401)
  assert.equal(await say({ ...step(world), bodyHash: 'another' }), 'done')
  assert.deepEqual(await effects(own, world), [1, 1])
})

test('steps of one call that say one id twice are one step', async (t) => {
  const own = await createTestDatabase(t)
  const world = asked(0)
  await push(own.database, [item(world.queue, 'other', 'm')])
  const [first, second] = await transaction(own.database, [step(world), step(world)])
  assert.ok(first !== undefined && first !== 'deferred' && first.success)
  assert.equal(second, 'deferred')
  assert.deepEqual(await effects(own, world), [2, 1])
})
