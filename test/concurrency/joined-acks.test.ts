// Acks of several requests share a call, often of one lane: a worker that settles the messages of a batch side by side. Each
// request is answered, and has happened, as if they had come one after the other.
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import type { AckItem, AckResult, AckStatus, Delivery } from '../../src/protocol/message.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { assertSound } from '../kit/soundness.ts'
import { ackOf, item, popOf } from '../kit/speech.ts'

const RUNS = process.env['LOCKSTEP_LONG'] === '1' ? 2_000 : 60
const PARTITIONS = ['p1', 'p2']
const COUNT = 5

async function leased(own: TestDatabase, queue: string): Promise<readonly Delivery[]> {
  await own.database.rows('select * from lockstep.configure($1, $2::json)', [queue, '{"retryDelay":0,"retryLimit":1}'])
  const names = Array.from({ length: COUNT }, (_, at) => `m${at}`)
  await push(
    own.database,
    PARTITIONS.flatMap((partition) => names.map((name) => item(queue, partition, name))),
  )
  return (await pop(own.database, popOf(queue, 'g', { batch: 10, partitions: 2 }))).answers.flat()
}

test('a failure of one message is not passed over by that of a later one in the same call', async (t) => {
  const own = await createTestDatabase(t)
  const got = (await leased(own, 'q')).filter((one) => one.partition === 'p1')
  const [first, second, third] = got
  assert.ok(first && second && third)
  const answers = await ack(own.database, [[ackOf(first, 'failed')], [ackOf(second, 'failed')], [ackOf(third)]])
  assert.deepEqual(
    answers.flat().map((one) => one.success),
    [true, false, false],
  )
  const again = (await pop(own.database, popOf('q', 'g', { partition: 'p1' }))).answers.flat()
  assert.deepEqual(
    again.map((one) => one.transactionId),
    ['m0', 'm1', 'm2', 'm3', 'm4'],
  )
})

test('the call that released a lease is known when it is said again, though it shared its commit with others', async (t) => {
  const own = await createTestDatabase(t)
  const got = (await leased(own, 'q')).filter((one) => one.partition === 'p1')
  const calls = [got.slice(3), got.slice(0, 1), got.slice(1, 3)].map((list) => list.map((one) => ackOf(one)))
  assert.ok((await ack(own.database, calls)).flat().every((one) => one.success))
  const [last] = calls
  const again = (await ack(own.database, [last ?? []])).flat()
  assert.deepEqual(
    again.map((one) => [one.success, one.leaseReleased]),
    [
      [true, true],
      [true, true],
    ],
  )
})

test('random joined acks end and are answered as the same acks one after the other', async (t) => {
  const own = await createTestDatabase(t)
  const say = fc.record({
    partition: fc.constantFrom(...PARTITIONS),
    place: fc.nat({ max: COUNT - 1 }),
    status: fc.constantFrom<AckStatus[]>('completed', 'completed', 'failed', 'dlq'),
  })
  const calls = fc.array(fc.array(say, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 4 })
  let nth = 0
  const property = fc.asyncProperty(calls, async (drawn) => {
    const ends: { readonly told: readonly (readonly boolean[])[]; readonly lanes: unknown }[] = []
    for (const way of ['joined', 'apart']) {
      const queue = `${way}${(nth += 1)}`
      const got = await leased(own, queue)
      const lists = drawn.map((list) =>
        list.flatMap(({ partition, place, status }): readonly AckItem[] => {
          const one = got.find((each) => each.partition === partition && each.offset === place)
          return one === undefined ? [] : [ackOf(one, status)]
        }),
      )
      ends.push({ told: await settle(own, way, lists), lanes: await lanes(own, queue) })
    }
    const [joined, apart] = ends
    assert.deepEqual(joined?.lanes, apart?.lanes)
    for (const [call, list] of drawn.entries())
      for (const [at, { partition }] of list.entries()) {
        // Where all only complete, the order in which they count as come is free, and who comes too late with it.
        const nacked = drawn.flat().some((one) => one.partition === partition && one.status !== 'completed')
        if (nacked) assert.equal(joined?.told[call]?.[at], apart?.told[call]?.[at])
      }
  })
  const { LOCKSTEP_SEED: seed, LOCKSTEP_PATH: path } = process.env
  await fc.assert(property, {
    numRuns: RUNS,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    ...(path === undefined ? {} : { path }),
  })
  await assertSound(own)
})

async function settle(
  own: TestDatabase,
  way: string,
  lists: readonly (readonly AckItem[])[],
): Promise<readonly (readonly boolean[])[]> {
  const answers: (readonly AckResult[])[] = []
  if (way === 'joined') answers.push(...(await ack(own.database, lists)))
  else for (const list of lists) answers.push(...(await ack(own.database, [list])))
  return answers.map((list) => list.map((one) => one.success))
}

async function lanes(own: TestDatabase, queue: string): Promise<unknown> {
  return own.database.reader.rows(
    `select p.name, l.committed, l.failures, l.lease_id is not null, l.batch_end,
            (select array_agg(d."offset" order by d."offset") from lockstep.dead_letter d
              where d.queue_id = l.queue_id and d.partition_id = l.partition_id)
       from lockstep.queue q
       join lockstep.lane l on l.queue_id = q.id
       join lockstep.partition p on p.queue_id = l.queue_id and p.id = l.partition_id
      where q.name = $1 order by 1`,
    [queue],
  )
}
