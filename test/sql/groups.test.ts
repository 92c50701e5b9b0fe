// Moving, forgetting and listing consumer groups: a seek or a deletion is one commit that ends live leases and makes every
// kept message after the new start deliverable at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { deleteGroup } from '../../src/operations/delete-group.ts'
import { extend } from '../../src/operations/extend.ts'
import { groupDetail } from '../../src/operations/group-detail.ts'
import { listGroups } from '../../src/operations/list-groups.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { queueDepth } from '../../src/operations/queue-depth.ts'
import { seekGroup } from '../../src/operations/seek-group.ts'
import { setSubscription } from '../../src/operations/set-subscription.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { drain } from '../kit/drain.ts'
import { ackOf, item, popOf } from '../kit/speech.ts'

/** Three partitions of three messages each, pushed one by one; their creation times by name. */
async function world(own: TestDatabase): Promise<Map<string, string>> {
  for (let n = 1; n <= 3; n++)
    for (const partition of ['a', 'b', 'c']) await push(own.database, [item('q', partition, `${partition}${n}`)])
  const seen = await drain(own, 'q', 'g')
  assert.equal(seen.length, 9)
  return new Map(seen.map(({ transactionId, createdAt }) => [transactionId, createdAt]))
}

const names = (list: readonly { transactionId: string }[]): readonly string[] =>
  list.map(({ transactionId }) => transactionId).toSorted()

const ALL = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3', 'c1', 'c2', 'c3']

test('a consumed group that seeks to the start gets everything again, also with the floor of its last empty pop', async (t) => {
  const own = await createTestDatabase(t)
  await world(own)
  let floor: string | null = null
  for (let n = 0; n < 3; n++) ({ floor } = await pop(own.database, popOf('q', 'g', { floor })))
  assert.notEqual(floor, null)
  assert.equal(await seekGroup(own.database, { group: 'g', queue: 'q', to: 'start' }), 3)
  assert.deepEqual(names(await drain(own, 'q', 'g', { floor })), ALL)
})

test('a seek to a time starts at the first message of that instant or later, in every partition', async (t) => {
  const own = await createTestDatabase(t)
  const created = await world(own)
  const timestamp = created.get('b2') ?? ''
  await seekGroup(own.database, { group: 'g', queue: 'q', to: { timestamp } })
  assert.deepEqual(names(await drain(own, 'q', 'g')), ['a3', 'b2', 'b3', 'c2', 'c3'])
})

test('a seek to the end leaves what is there, and what comes later is delivered', async (t) => {
  const own = await createTestDatabase(t)
  await world(own)
  for (const to of ['end', { timestamp: '2999-01-01T00:00:00Z' }] as const) {
    await seekGroup(own.database, { group: 'g', queue: 'q', to: 'start' })
    await seekGroup(own.database, { group: 'g', queue: 'q', to })
    assert.deepEqual(await drain(own, 'q', 'g'), [])
  }
  await push(own.database, [item('q', 'a', 'late'), item('q', 'new', 'newer')])
  assert.deepEqual(names(await drain(own, 'q', 'g')), ['late', 'newer'])
})

test('a seek of a group never seen registers it there; an unknown queue answers null', async (t) => {
  const own = await createTestDatabase(t)
  const created = await world(own)
  const timestamp = created.get('c3') ?? ''
  assert.equal(await seekGroup(own.database, { group: 'fresh', queue: 'q', to: { timestamp } }), 3)
  assert.deepEqual(names(await drain(own, 'q', 'fresh', { start: { mode: 'all' } })), ['c3'])
  assert.equal(await seekGroup(own.database, { group: 'g', queue: 'none', to: 'start' }), null)
  const partition = 'none'
  assert.equal(await seekGroup(own.database, { group: 'g', queue: 'q', partition, to: 'start' }), null)
})

test('an unparsable time is refused and moves nothing', async (t) => {
  const own = await createTestDatabase(t)
  await world(own)
  for (const timestamp of ['2026-13-45', 'not a time', ''])
    await assert.rejects(seekGroup(own.database, { group: 'g', queue: 'q', to: { timestamp } }))
  assert.deepEqual(await drain(own, 'q', 'g'), [])
})

test('a seek and a deletion end live leases: late acks and heartbeats change nothing', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await push(database, [item('q', 'a', 'm1'), item('q', 'a', 'm2')])
  const moves = [
    () => seekGroup(database, { group: 'g', queue: 'q', to: 'start' }),
    () => seekGroup(database, { group: 'g', queue: 'q', partition: 'a', to: 'start' }),
    () => deleteGroup(database, { group: 'g', queue: 'q' }),
    () => deleteGroup(database, { group: 'g', queue: 'q', metadata: false }),
  ]
  for (const move of moves) {
    const leased = (await pop(database, popOf('q', 'g'))).answers.flat()
    assert.deepEqual(names(leased), ['m1', 'm2'])
    await move()
    const [results] = await ack(database, [leased.map((one) => ackOf(one))])
    assert.deepEqual(
      results?.map(({ success }) => success),
      [false, false],
    )
    assert.equal((await extend(database, leased[0]?.leaseId ?? '', 60)).renewed, 0)
  }
  assert.deepEqual(names(await drain(own, 'q', 'g')), ['m1', 'm2'])
})

test('a seek of one partition moves that cursor only', async (t) => {
  const own = await createTestDatabase(t)
  const created = await world(own)
  const seek = (partition: string, to: Parameters<typeof seekGroup>[1]['to']) =>
    seekGroup(own.database, { group: 'g', queue: 'q', partition, to })
  assert.equal(await seek('a', { timestamp: created.get('a2') ?? '' }), 1)
  await seek('b', 'start')
  await seek('b', 'end')
  assert.deepEqual(names(await drain(own, 'q', 'g')), ['a2', 'a3'])
})

test('a group that was deleted starts afresh under its name; other groups do not notice', async (t) => {
  const own = await createTestDatabase(t)
  await world(own)
  await drain(own, 'q', 'other')
  assert.deepEqual(await deleteGroup(own.database, { group: 'g', queue: null }), { partitions: 3, queues: 1 })
  assert.deepEqual(await deleteGroup(own.database, { group: 'g', queue: null }), { partitions: 0, queues: 0 })
  assert.deepEqual(names(await drain(own, 'q', 'g')), ALL)
  assert.deepEqual(await drain(own, 'q', 'other'), [])
})

test('a deletion that keeps the registration starts again where the group was subscribed', async (t) => {
  const own = await createTestDatabase(t)
  const created = await world(own)
  await drain(own, 'q', 'late', { start: { from: created.get('b3') ?? '' } })
  await deleteGroup(own.database, { group: 'late', queue: 'q', metadata: false })
  assert.deepEqual(names(await drain(own, 'q', 'late')), ['b3', 'c3'])
})

test('a new subscription time moves no cursor', async (t) => {
  const own = await createTestDatabase(t)
  await world(own)
  assert.equal(await setSubscription(own.database, 'g', '2001-01-01T00:00:00Z'), 1)
  assert.equal(await setSubscription(own.database, 'nobody', '2001-01-01T00:00:00Z'), 0)
  assert.deepEqual(await drain(own, 'q', 'g'), [])
  const [group] = await listGroups(own.database, 'q')
  assert.equal(group?.startsAt, '2001-01-01T00:00:00.000000Z')
})

test('a seek waits for a partition in the making, so that none is missed', async (t) => {
  const own = await createTestDatabase(t)
  await world(own)
  const { a, b } = await openSessions(own, ['a', 'b'])
  await a.run('begin')
  await a.run(
    `select status from lockstep.push_joined('{q}', '{d}', '{d1}', '{1}', '{null}', '{null}', array[lockstep.uuid7()])`,
  )
  assert.equal(await b.start(`select lockstep.seek_group('q', 'g', '-infinity')`), 'blocked')
  await a.run('commit')
  assert.deepEqual(await b.result(), { rows: [['4']] })
  assert.deepEqual(names(await drain(own, 'q', 'g')), [...ALL, 'd1'])
})

test('groups are listed with their backlog, and a group in the middle of its first passes counts whole', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await world(own)
  await seekGroup(database, { group: 'slow', queue: 'q', to: 'start' })
  await push(database, [item('q', 'a', 'a4')])
  const leased = (await pop(database, popOf('q', 'g'))).answers.flat()
  assert.equal(leased.length, 1)
  const groups = await listGroups(database)
  assert.deepEqual(
    groups.map(({ group, queue, totalLag, partitionsWithLag, leased: under }) => [
      group,
      queue,
      totalLag,
      partitionsWithLag,
      under,
    ]),
    [
      ['g', 'q', 1, 1, 1],
      ['slow', 'q', 10, 3, 0],
    ],
  )
  assert.ok((groups[0]?.maxTimeLagSeconds ?? -1) > 0)
  assert.deepEqual(await listGroups(database, 'none'), [])
  const [lane] = await groupDetail(database, 'g')
  assert.deepEqual(
    [lane?.queue, lane?.partition, lane?.committed, lane?.offsetLag, lane?.leaseActive, lane?.leaseId],
    ['q', 'a', 3, 1, true, leased[0]?.leaseId],
  )
  assert.deepEqual(await groupDetail(database, 'nobody'), [])
  const depth = await queueDepth(database, 'q', 'slow')
  assert.deepEqual([depth?.pending, depth?.partitionsPending], [10, 3])
  assert.deepEqual(await queueDepth(database, 'q', 'g'), {
    queue: 'q',
    group: 'g',
    pending: 1,
    partitionsPending: 1,
    conflation: false,
    partitions: [{ partition: 'a', pending: 1 }],
  })
  assert.equal(await queueDepth(database, 'none', null), null)
  assert.equal((await queueDepth(database, 'q', null))?.pending, 10)
})
