// A push inside a user's open transaction delays nobody and nobody delays it; it becomes a message when that transaction
// commits, once, in its own order, whatever happened to the queue meanwhile.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { stage } from '../../src/operations/stage.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { PushResult } from '../../src/protocol/message.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openActor } from '../kit/actor.ts'
import { byPartition, drain } from '../kit/drain.ts'
import { quiet } from '../kit/quiet.ts'
import { assertSound } from '../kit/soundness.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'
import { stageAlone } from '../kit/verbs.ts'

const told = (results: readonly PushResult[]) => results.map(({ status, conflict }) => (conflict ? 'conflict' : status))

test('an open staged push to a queue and partition that are not there yet blocks no push, pop or deletion of them', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 500 })
  const user = await openActor(own, 'user')
  await user.sql('begin')
  await stage(user.door, [item('orders', 'acme', 'staged-1'), item('orders', 'acme', 'staged-2')])
  const [plain] = await push(own.database, [item('orders', 'acme', 'plain')])
  assert.equal(plain?.offset, 0)
  assert.deepEqual(byPartition(await drain(own, 'orders', 'g')), { acme: ['plain'] })
  const [step] = await transaction(own.database, [stepOf({ pushes: [item('orders', 'acme', 'step')] })])
  assert.ok(step !== 'deferred' && step?.success)
  const waiters = await own.database.reader.rows(
    'select * from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())',
    [],
  )
  assert.deepEqual(waiters, [])
  await user.sql('commit')
  assert.deepEqual(byPartition(await drain(own, 'orders', 'g')), { acme: ['step', 'staged-1', 'staged-2'] })
  await assertSound(own)
})

test('a staged push survives the deletion of its queue meanwhile: it comes after it', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 500 })
  const user = await openActor(own, 'user')
  await push(own.database, [item('orders', 'acme', 'old')])
  await user.sql('begin')
  await stage(user.door, [item('orders', 'acme', 'staged')])
  await own.database.rows(`select lockstep.delete_queue('orders')`, [])
  await user.sql('commit')
  assert.deepEqual(byPartition(await drain(own, 'orders', 'g')), { acme: ['staged'] })
})

test('a rollback leaves nothing of a staged push, to a savepoint too, and its id is free again', async (t) => {
  const own = await createTestDatabase(t)
  const user = await openActor(own, 'user')
  await user.sql('begin')
  await stage(user.door, [item('q', 'p', 'kept')])
  await user.sql('savepoint s')
  await stage(user.door, [item('q', 'p', 'undone')])
  await user.sql('rollback to s')
  assert.deepEqual(told(await stage(user.door, [item('q', 'p', 'undone')])), ['queued'])
  await user.sql('rollback to s')
  await user.sql('commit')
  await user.sql('begin')
  await stage(user.door, [item('q', 'p', 'never')])
  await user.sql('rollback')
  assert.deepEqual(told(await push(own.database, [item('q', 'p', 'never'), item('q', 'p', 'undone')])), [
    'queued',
    'queued',
  ])
  assert.deepEqual(byPartition(await drain(own, 'q', 'g')), { p: ['kept', 'never', 'undone'] })
})

test("a pop right after a user's commit delivers, also while another session holds the partition", async (t) => {
  const own = await createTestDatabase(t)
  await push(own.database, [item('q', 'p', 'first')])
  await drain(own, 'q', 'g')
  const holder = await openActor(own, 'holder')
  const reader = await openActor(own, 'reader')
  await holder.sql('begin')
  await push(holder.db, [item('q', 'p', 'held')])
  await stageAlone(own, [item('q', 'p', 'staged')])

  const found = await pop(reader.db, popOf('q', 'g'))
  assert.deepEqual([found.answers, found.again], [[[]], 'staged'])
  const waiting = reader.hand(() => pop(reader.db, popOf('q', 'g', { waitStaged: true })))
  assert.deepEqual(await quiet(own, [reader]), [reader])
  await holder.sql('commit')
  const outcome = await waiting
  assert.ok('value' in outcome && JSON.stringify(outcome.value).includes('"staged"'))
  assert.deepEqual(
    (await drain(own, 'q', 'h')).map((one) => one.transactionId),
    ['first', 'held', 'staged'],
  )
})

test('a pop that waits for a staged push gives up at its lock timeout, having leased nothing', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 100 })
  await push(own.database, [item('q', 'p', 'first')])
  await drain(own, 'q', 'g')
  const holder = await openActor(own, 'holder')
  await holder.sql('begin')
  await push(holder.db, [item('q', 'p', 'held')])
  await stageAlone(own, [item('q', 'p', 'staged')])
  await assert.rejects(pop(own.database, popOf('q', 'g', { waitStaged: true })), { code: 'busy' })
  await holder.sql('rollback')
  assert.deepEqual(byPartition(await drain(own, 'q', 'g')), { p: ['staged'] })
})

for (const [kind, payload, answer, letters] of [
  ['the same body', '1', 'duplicate', 0],
  ['another body', '2', 'conflict', 1],
] as const) {
  test(`of a staged and a plain push of one id with ${kind} exactly one becomes a message, in either order`, async (t) => {
    const own = await createTestDatabase(t)
    const user = await openActor(own, 'user')
    const one = (partition: string, body: string) => [item('q', partition, 'id', body)]
    // Plain first: the later stage is told so at once.
    await push(own.database, one('plain-first', '1'))
    assert.deepEqual(told(await stage(user.door, one('plain-first', payload))), [answer])
    // Staged and committed first, though nobody has placed it yet.
    await stage(user.door, one('staged-first', '1'))
    assert.deepEqual(told(await push(own.database, one('staged-first', payload))), [answer])
    // Staged first, still open while the plain one is stored: the placer finds it.
    await user.sql('begin')
    assert.deepEqual(told(await stage(user.door, one('open', '1'))), ['queued'])
    assert.deepEqual(told(await push(own.database, one('open', payload))), ['queued'])
    await user.sql('commit')
    const got = await drain(own, 'q', 'g')
    assert.deepEqual(Object.fromEntries(got.map((m) => [m.partition, m.payload])), {
      'plain-first': '1',
      'staged-first': '1',
      open: payload,
    })
    const [row] = await own.database.reader.rows(
      `select count(*), count(*) filter (where cause = 'conflict' and payload = '1') from lockstep.dead_letter`,
      [],
    )
    assert.deepEqual(row?.map(Number), [letters, letters])
    await assertSound(own)
  })
}

test('two open transactions staging one id: the second waits for the first alone, and wins only if that rolls back', async (t) => {
  const own = await createTestDatabase(t)
  for (const [end, answer] of [
    ['commit', 'duplicate'],
    ['rollback', 'queued'],
  ] as const) {
    const [first, second] = [await openActor(own, 'first'), await openActor(own, 'second')]
    await first.sql('begin')
    await stage(first.door, [item('q', end, 'id')])
    await second.sql('begin')
    assert.deepEqual(told(await stage(second.door, [item('q', end, 'other id')])), ['queued'])
    const waiting = second.hand(() => stage(second.door, [item('q', end, 'id')]))
    assert.deepEqual(await quiet(own, [second]), [second])
    await first.sql(end)
    const outcome = await waiting
    assert.ok('value' in outcome)
    assert.equal(JSON.parse(JSON.stringify(outcome.value))[0].status, answer)
    await second.sql('commit')
  }
  const got = byPartition(await drain(own, 'q', 'g'))
  assert.deepEqual(got, { commit: ['id', 'other id'], rollback: ['other id', 'id'] })
})

test('an old snapshot that still sees a staged push which was placed since leaves no second row behind its answer', async (t) => {
  const own = await createTestDatabase(t)
  const user = await openActor(own, 'user')
  await stageAlone(own, [item('q', 'p', 'id', '1')])
  await user.sql('begin isolation level repeatable read')
  await user.sql('select count(*) from lockstep.staged')
  await drain(own, 'q', 'g')
  assert.deepEqual(told(await stage(user.door, [item('q', 'p', 'id', '2')])), ['conflict'])
  await user.sql('commit')
  await drain(own, 'q', 'g')
  const letters = await own.database.reader.rows('select * from lockstep.dead_letter', [])
  assert.deepEqual(letters, [])
})

test('ids are told apart by queue, partition and full value, however long, and whatever stands in a name', async (t) => {
  const own = await createTestDatabase(t)
  const long = 'x'.repeat(65_534)
  const ids: readonly (readonly [string, string, string])[] = [
    ['q', 'a', `${long}1`],
    ['q', 'a', `${long}2`],
    ['q', 'b', `${long}1`],
    ['r', 'a', `${long}1`],
    ['q', 'a:b', 'c'],
    ['q', 'a', 'b:c'],
    ['q', 'a:', 'b'],
    ['q', 'a', ':b'],
  ]
  const items = () => ids.map(([queue, partition, id]) => item(queue, partition, id, '1'))
  await stageAlone(own, items())
  const staged = await own.database.reader.rows('select count(*) from lockstep.staged', [])
  assert.equal(Number(staged[0]?.[0]), ids.length)
  assert.deepEqual([...new Set(told(await push(own.database, items())))], ['duplicate'])
  const got = [...(await drain(own, 'q', 'g', { autoAck: true })), ...(await drain(own, 'r', 'g', { autoAck: true }))]
  assert.equal(got.length, ids.length)
  // Acks by id find the one that is meant, unfenced and long after.
  const byId = got.map((one) =>
    ackOf(one, 'completed', { offset: null, transactionId: one.transactionId, leaseId: null }),
  )
  assert.ok((await ack(own.database, [byId])).flat().every((one) => one.success && one.noop))
})

test('a step that meets an open transaction with its id waits no longer than the lock timeout, and neighbours not at all', async (t) => {
  const own = await createTestDatabase(t, { lockTimeoutMs: 100 })
  const [user, holder] = [await openActor(own, 'user'), await openActor(own, 'holder')]
  await user.sql('begin')
  await stage(user.door, [item('q', 'p', 'id')])
  const neighbours = Array.from({ length: 20 }, (_, at) => item('q', 'p', `other ${at}`))
  assert.deepEqual([...new Set(told(await push(own.database, neighbours)))], ['queued'])
  assert.deepEqual(told(await push(own.database, [item('q', 'p', 'id')])), ['queued'])
  // Only where the partition is busy too must the step stage, and then it meets the open id.
  await user.sql('rollback')
  await user.sql('begin')
  await stage(user.door, [item('q', 'p', 'id 2')])
  await holder.sql('begin')
  await push(holder.db, [item('q', 'p', 'held')])
  const step = (id: string) => stepOf({ pushes: [item('q', 'p', id)], requestId: id })
  await assert.rejects(transaction(own.database, [step('id 2'), step('id 3')]), { code: 'busy' })
  const [alone] = await transaction(own.database, [step('id 3')])
  assert.ok(alone !== 'deferred' && alone?.success)
  await user.sql('commit')
  await holder.sql('commit')
  const [again] = await transaction(own.database, [step('id 2')])
  assert.ok(again !== undefined && again !== 'deferred' && !again.success && again.reason === 'duplicate')
  const names = (await drain(own, 'q', 'g')).map((one) => one.transactionId)
  assert.deepEqual(
    names.filter((name) => /^(id|held)/.test(name)),
    ['id', 'held', 'id 2', 'id 3'],
  )
})
