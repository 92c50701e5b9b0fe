// A bounded queue takes what there is room for, in the order of the call, gives offsets without gaps, and says of the rest that
// it is full; duplicates take no room.
import assert from 'node:assert/strict'
import test from 'node:test'
import { ack } from '../../../src/operations/ack.ts'
import { pop } from '../../../src/operations/pop.ts'
import { push } from '../../../src/operations/push.ts'
import { stage } from '../../../src/operations/stage.ts'
import { transaction } from '../../../src/operations/transaction.ts'
import type { PushResult } from '../../../src/protocol/message.ts'
import { createTestDatabase } from '../../../src/testing/database.ts'
import { openActor } from '../../kit/actor.ts'
import { byPartition, drain } from '../../kit/drain.ts'
import { assertSound } from '../../kit/soundness.ts'
import { ackOf, item, popOf, stepOf } from '../../kit/speech.ts'

const told = (results: readonly PushResult[]) => results.map((one) => one.error ?? one.status)

test('a full queue refuses item by item, and takes again what its slowest group has passed', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(`select lockstep.configure('q', '{"maxSize":4}')`, [])
  const first = await push(own.database, [
    item('q', 'a', 'a1'),
    item('q', 'b', 'b1'),
    item('q', 'a', 'a1'),
    item('q', 'b', 'b2'),
    item('q', 'a', 'a2'),
    item('q', 'b', 'b3'),
    item('q', 'b', 'b3'),
    item('q', 'a', 'a3'),
  ])
  assert.deepEqual(told(first), [
    'queued',
    'queued',
    'duplicate',
    'queued',
    'queued',
    'queue_full',
    'queue_full',
    'queue_full',
  ])
  assert.deepEqual(
    first.map((one) => one.offset),
    [0, 0, null, 1, 1, null, null, null],
  )
  const user = await openActor(own, 'user')
  assert.deepEqual(told(await stage(user.door, [item('q', 'a', 'staged')])), ['queue_full'])
  const [step] = await transaction(own.database, [stepOf({ pushes: [item('q', 'a', 'step')] })])
  assert.ok(step !== undefined && step !== 'deferred' && !step.success && step.reason === 'queue_full')
  assert.deepEqual(byPartition(await drain(own, 'q', 'g')), { a: ['a1', 'a2'], b: ['b1', 'b2'] })
  const second = await push(own.database, [item('q', 'a', 'a1'), item('q', 'a', 'a3'), item('q', 'b', 'b3')])
  assert.deepEqual(told(second), ['duplicate', 'queued', 'queued'])
  await assertSound(own)
})

test('what waits is counted against the slowest group, one whose lanes are still being made included', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(`select lockstep.configure('q', '{"maxSize":5}')`, [])
  const waiting = async (): Promise<string | null | undefined> =>
    (await own.database.rows('select lockstep._waiting(id) from lockstep.queue', []))[0]?.[0]
  await push(own.database, [item('q', 'a', 'a1'), item('q', 'a', 'a2'), item('q', 'b', 'b1')])
  assert.equal(await waiting(), '3')
  await drain(own, 'q', 'fast')
  assert.equal(await waiting(), '0')
  await own.database.rows(`select lockstep._open_group(id, 'slow', 'all', null, false) from lockstep.queue`, [])
  assert.equal(await waiting(), '3')
  const leased = (await pop(own.database, popOf('q', 'slow', { partition: 'a' }))).answers.flat()
  assert.deepEqual([leased.length, await waiting()], [2, '3'])
  await push(own.database, [item('q', 'b', 'b2'), item('q', 'c', 'c1')])
  assert.deepEqual(told(await push(own.database, [item('q', 'c', 'c2')])), ['queue_full'])
  await ack(own.database, [leased.map((one) => ackOf(one))])
  await drain(own, 'q', 'fast')
  assert.equal(await waiting(), '3')
  await drain(own, 'q', 'slow')
  assert.equal(await waiting(), '0')
})

test('of many pushes at once to one partition of a bounded queue exactly as many are taken as fit', async (t) => {
  const own = await createTestDatabase(t, { connections: 8 })
  await own.database.rows(`select lockstep.configure('q', '{"maxSize":10}')`, [])
  const results = await Promise.all(
    Array.from({ length: 30 }, (_, at) => push(own.database, [item('q', 'p', `m${at}`)])),
  )
  assert.equal(told(results.flat()).filter((one) => one === 'queued').length, 10)
  await assertSound(own)
})

test('in a joined call a step that loses takes no room from its neighbours', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(`select lockstep.configure('q', '{"maxSize":6}')`, [])
  await push(own.database, [item('q', 'p', 'known')])
  const items = (name: string, n: number) => Array.from({ length: n }, (_, at) => item('q', `p${at}`, `${name}-${at}`))
  const check = { op: 'check' as const, ns: 's', key: 'k', expect: 7, required: true }
  const results = await transaction(own.database, [
    stepOf({ pushes: items('guard', 5), kv: [check] }),
    stepOf({ pushes: [...items('twice', 5), item('q', 'p', 'known')] }),
    stepOf({ pushes: items('fits', 2) }),
    stepOf({ pushes: items('much', 4) }),
    stepOf({ pushes: items('last', 3) }),
    stepOf({ pushes: items('late', 1) }),
  ])
  assert.deepEqual(
    results.map((one) => (one === 'deferred' ? one : one.success ? 'stored' : one.reason)),
    ['kv_precondition', 'duplicate', 'stored', 'queue_full', 'stored', 'queue_full'],
  )
  const [lost] = results.slice(3)
  assert.ok(lost !== undefined && lost !== 'deferred' && !lost.success && lost.reason === 'queue_full')
  assert.equal(lost.failedIndex, 3)
  await assertSound(own)
})
