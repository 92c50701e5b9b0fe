// A group that is born, moved or still being spread over old partitions misses nothing that anybody pushes meanwhile, and
// reads nothing twice.
import assert from 'node:assert/strict'
import test from 'node:test'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import type { Outcome } from '../kit/actor.ts'
import { drain } from '../kit/drain.ts'
import { inTransaction, interleave, type Step } from '../kit/interleave.ts'
import { assertSound, deadlocks } from '../kit/soundness.ts'
import { item, popOf } from '../kit/speech.ts'
import { stageAlone } from '../kit/verbs.ts'

async function oneMessage(own: TestDatabase, nth: number): Promise<string> {
  const queue = `born${nth}`
  await push(own.database, [item(queue, 'old', 'm0')])
  return queue
}

const register: Step<string> = ({ db }, queue) => pop(db, popOf(queue, 'g', { autoAck: true }))
const birth: Step<string> = ({ db }, queue) => push(db, [item(queue, 'young', 'm1'), item(queue, 'old', 'm2')])
const seek: Step<string> = ({ sql }, queue) => sql(`select lockstep.seek_group($1, 'g', '-infinity')`, [queue])

function popped(told: readonly (readonly Outcome[])[]): number {
  const [outcome] = told[0] ?? []
  assert.ok(outcome !== undefined && 'value' in outcome, JSON.stringify(outcome))
  return (JSON.stringify(outcome.value).match(/"transactionId"/g) ?? []).length
}

test('a group registered while a partition is born gets its messages, whoever commits first', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<string>(own, {
    name: 'first pop of a group | first push of a partition',
    setup: oneMessage,
    sessions: [inTransaction(register), inTransaction(birth)],
    async check(queue, told, at) {
      await assertSound(at, queue)
      assert.equal(popped(told) + (await drain(at, queue, 'g')).length, 3)
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('a group sought to its start while a partition is born reads everything again, and that partition', async (t) => {
  const own = await createTestDatabase(t)
  await interleave<string>(own, {
    name: 'seek of a group | first push of a partition | pop',
    async setup(at, nth) {
      const queue = await oneMessage(at, nth)
      await drain(at, queue, 'g')
      return queue
    },
    sessions: [inTransaction(seek), inTransaction(birth)],
    async check(queue, _told, at) {
      await assertSound(at, queue)
      assert.equal((await drain(at, queue, 'g')).length, 3)
    },
  })
  assert.equal(await deadlocks(own), 0)
})

test('a group that begins now gets what is pushed after it, in old partitions and new ones, and nothing before', async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'a', 'before'), item('q', 'b', 'before')])
  const start = { mode: 'new' } as const
  assert.equal((await drain(own, 'q', 'g', { start })).length, 0)
  await push(own.database, [item('q', 'a', 'after'), item('q', 'c', 'after')])
  const got = await drain(own, 'q', 'g', { start })
  assert.deepEqual(got.map((one) => `${one.partition} ${one.transactionId}`).toSorted(), ['a after', 'c after'])
})

test('a group over 1,200 old partitions is spread in passes; pushes and births in between are all delivered, once', async (t) => {
  const own = await createTestDatabase(t)
  const names = Array.from({ length: 1200 }, (_, at) => `p${at}`)
  await push(
    own.database,
    names.map((name) => item('q', name, 'first')),
  )
  const seen: string[] = []
  let passes = 0
  for (let idle = false; !idle;) {
    const { answers, again } = await pop(own.database, popOf('q', 'g', { batch: 100, partitions: 100, autoAck: true }))
    seen.push(...answers.flat().map((one) => `${one.partition} ${one.transactionId}`))
    const [row] = await own.database.reader.rows(
      'select backfill_after, backfill_until is null from lockstep.consumer_group',
      [],
    )
    if (passes === 0) {
      assert.deepEqual(row, ['500', 'f'])
      // One that has no lane yet, one that has, one that is not there yet, and a committed push of a user.
      await push(own.database, [item('q', 'p1100', 'second'), item('q', 'p3', 'second'), item('q', 'p1200', 'first')])
      await stageAlone(own, [item('q', 'p1101', 'second'), item('q', 'p1201', 'first')])
      await assertSound(own)
    }
    passes++
    idle = again === 'no' && answers.flat().length === 0
  }
  const expected = [
    ...names.map((name) => `${name} first`),
    'p1100 second',
    'p3 second',
    'p1200 first',
    'p1101 second',
    'p1201 first',
  ]
  assert.deepEqual(seen.toSorted(), expected.toSorted())
  await assertSound(own)
})

test('passes of two pops of one group, and pushes beside them, never deadlock and leave every lane made', async (t) => {
  const own = await createTestDatabase(t)
  await push(
    own.database,
    Array.from({ length: 600 }, (_, at) => item('q', `p${at}`, 'first')),
  )
  const pops = Array.from({ length: 4 }, () => drain(own, 'q', 'g', { batch: 50, partitions: 50 }))
  const pushes = Array.from({ length: 40 }, (_, nth) =>
    push(
      own.database,
      [599 - nth, nth, 300 + nth].map((at) => item('q', `p${at}`, null)),
    ),
  )
  await Promise.all(pushes)
  const seen = (await Promise.all(pops)).flat()
  const rest = await drain(own, 'q', 'g')
  assert.equal(new Set([...seen, ...rest].map((one) => one.id)).size, 720)
  assert.equal(seen.length + rest.length, 720)
  await assertSound(own)
  assert.equal(await deadlocks(own), 0)
})
