// Positions: a group can be put anywhere in its log, to the microsecond, and finds what is there; what was leased before the
// move is void.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import type { Delivery } from '../../../src/protocol/message.ts'
import { mintId } from '../../../src/protocol/mint-id.ts'
import { createTestDatabase } from '../../../src/testing/database.ts'
import { drain } from '../../kit/drain.ts'
import { assertSound } from '../../kit/soundness.ts'
import { ackOf, item, popOf } from '../../kit/speech.ts'

test('a replay from the instant of one message begins at it, among fifty in the same millisecond', async (t) => {
  const own = await createTestDatabase(t)
  for (let at = 1; at <= 50; at++) await push(own.database, [item('q', 'p', `m${at}`)])
  await own.database.pool.query(
    `update lockstep.message set created_at = '2026-01-01T00:00:00.123Z'::timestamptz + "offset" * interval '1 microsecond';
     update lockstep.partition set last_created_at = '2026-01-01T00:00:00.123049Z'`,
  )
  const all = await drain(own, 'q', 'g')
  assert.equal(all[24]?.createdAt, '2026-01-01T00:00:00.123024Z')
  for (const sought of ['seek_group($1, $2, $3::timestamptz)', `seek_partition($1, $2, 'p', $3::timestamptz)`]) {
    await own.database.rows(`select lockstep.${sought}`, ['q', 'g', all[24].createdAt])
    const again = await drain(own, 'q', 'g')
    assert.deepEqual(
      again.map((one) => one.transactionId),
      all.slice(24).map((one) => one.transactionId),
    )
  }
  // A group that begins there by its first pop sees the same.
  const fresh = await drain(own, 'q', 'fresh', { start: { from: all[24].createdAt } })
  assert.equal(fresh.length, 26)
})

test('pages of any size deliver every message of one push once, in order', async (t) => {
  const own = await createTestDatabase(t)
  await push(
    own.database,
    Array.from({ length: 50 }, (_, at) => item('q', 'p', `m${at}`)),
  )
  for (const batch of [1, 7, 50]) {
    const got = await drain(own, 'q', `g${batch}`, { batch })
    assert.deepEqual(
      got.map((one) => one.offset),
      Array.from({ length: 50 }, (_, at) => at),
    )
  }
})

test('messages of megabytes come in pops of bounded size, each once and in order, whatever is asked at once', async (t) => {
  const own = await createTestDatabase(t)
  const large = JSON.stringify('x'.repeat(3 * 1024 * 1024))
  const names = Array.from({ length: 12 }, (_, at) => `m${at}`)
  for (const [at, name] of names.entries()) await push(own.database, [item('q', `p${at % 3}`, name, large)])
  const seen: string[] = []
  for (let got: readonly Delivery[] | null = null; got === null || got.length > 0;) {
    const leaseIds = [mintId(), mintId(), mintId()]
    const { answers } = await pop(own.database, popOf('q', 'g', { leaseIds, batch: 100, partitions: 3 }))
    got = answers.flat()
    for (const one of answers)
      assert.ok(one.reduce((sum, { payload }) => sum + payload.length, 0) <= (8 + 3.1) * 1024 * 1024)
    seen.push(...got.map((one) => `${one.partition} ${one.transactionId}`))
    await ack(own.database, [got.map((one) => ackOf(one))])
  }
  for (const partition of ['p0', 'p1', 'p2'])
    assert.deepEqual(
      seen.filter((one) => one.startsWith(partition)),
      names.filter((_, at) => `p${at % 3}` === partition).map((name) => `${partition} ${name}`),
    )
  assert.equal(seen.length, names.length)
})

test('a group moved back, or forgotten and made again, finds everything, also after it had found nothing for long', async (t) => {
  const own = await createTestDatabase(t)
  await push(
    own.database,
    ['a', 'b', 'c'].map((partition) => item('q', partition, 'm')),
  )
  assert.equal((await drain(own, 'q', 'g')).length, 3)
  let floor: string | null = null
  for (let time = 0; time < 3; time++) floor = (await pop(own.database, popOf('q', 'g', { floor }))).floor
  await own.database.rows(`select lockstep.seek_group('q', 'g', '2000-01-01')`, [])
  assert.equal((await drain(own, 'q', 'g')).length, 3)
  await own.database.rows(`select lockstep.delete_group('q', 'g')`, [])
  assert.equal((await drain(own, 'q', 'g')).length, 3)
  await assertSound(own)
})

for (const [what, statement] of [
  ['a seek of the group', `select lockstep.seek_group('q', 'g', '-infinity')`],
  ['a seek of the partition', `select lockstep.seek_partition('q', 'g', 'p', '-infinity')`],
  ['the deletion of the group', `select lockstep.delete_group('q', 'g')`],
  ['the deletion of the queue', `select lockstep.delete_queue('q')`],
] as const)
  test(`${what} voids the leases of that moment`, async (t) => {
    const own = await createTestDatabase(t)
    await push(own.database, [item('q', 'p', 'm')])
    const got = (await pop(own.database, popOf('q', 'g'))).answers.flat()
    await own.database.rows(statement, [])
    const answers = (await ack(own.database, [got.map((one) => ackOf(one))])).flat()
    assert.deepEqual(
      answers.map((one) => one.success),
      [false],
    )
    const expected = what.endsWith('queue') ? 0 : 1
    assert.equal((await drain(own, 'q', 'g')).length, expected)
  })
