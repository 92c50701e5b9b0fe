// Claims of a stream's runner: a lease with an empty batch on a partition that its group has read to the end, so that one runner
// alone closes what is ripe there; and the partitions that hold state, by which a runner finds them after a restart.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestEnd } from '../../src/testing/database.ts'
import { makeClockMovable, moveClock } from '../../src/testing/move-clock.ts'
import { serveSpread } from './served.ts'

const GROUP = 'streams.sessions'

async function stand(t: TestEnd) {
  const served = await serveSpread(t)
  await makeClockMovable(served.db.database)
  const { query_id }: Untyped = (
    await served.post('/streams/v1/queries', { name: 'sessions', source_queue: 'in', config_hash: 'h' })
  ).json
  const take = async (batch = 10): Promise<Untyped[]> => {
    const { status, json } = await served.pop('in', `consumerGroup=${GROUP}&batch=${batch}&partitions=20`)
    return status === 200 ? json.messages : []
  }
  const call = async (path: string, body: object): Promise<Untyped> => {
    const { status, json, text } = await served.post(`/streams/v1/${path}`, { query_id, ...body })
    assert.equal(status, 200, text)
    return json
  }
  const claim = async (partition_ids: readonly string[], more: object = {}): Promise<Untyped> =>
    call('claim', { partition_ids, ...more })
  /** Reads the partitions to the end, and remembers something of each. */
  const readThrough = async (names: readonly string[]): Promise<string[]> => {
    for (const name of names) await served.push('in', [name], name)
    const messages = await take()
    for (const { partitionId, leaseId } of messages) {
      const state_ops = [{ type: 'upsert', key: 'open', value: { windowEnd: 1 } }]
      const ack = { leaseId, status: 'completed', count: 1 }
      const done = await call('cycle', { partition_id: partitionId, state_ops, push_items: [], ack })
      assert.equal(done.success, true)
    }
    return names.map((name) => messages.find((message) => message.partition === name)?.partitionId ?? '')
  }
  const close = async (partition_id: string, leaseId: string, more: object = {}): Promise<Untyped> =>
    call('cycle', {
      partition_id,
      state_ops: [{ type: 'delete', key: 'open' }],
      push_items: [{ queue: 'out', payload: partition_id }],
      ack: { transactionId: '', leaseId, status: 'completed', count: 0 },
      ...more,
    })
  const out = async (): Promise<Untyped[]> => {
    const { status, json } = await served.pop('out', 'consumerGroup=reader&autoAck=true')
    return status === 200 ? json.messages.map((message: Untyped) => message.data) : []
  }
  return { ...served, take, call, claim, readThrough, close, out }
}

const statuses = ({ partitions }: Untyped): unknown[] => partitions.map((each: Untyped) => each.status)

test('a claim is granted on what is read to the end and in nobody else’s hands, and says so of each partition', async (t) => {
  const { push, take, claim, readThrough, post } = await stand(t)
  const [a = '', b = '', c = ''] = await readThrough(['a', 'b', 'c'])
  await push('in', ['more'], 'b')
  const before = Date.now()
  const first = await claim([a, b, '1000000000000', 'none', c])
  assert.deepEqual(statuses(first), ['claimed', 'backlog', 'missing', 'missing', 'claimed'])
  assert.deepEqual(
    first.partitions.map((each: Untyped) => [each.partition_id, each.partition]),
    [
      [a, 'a'],
      [b, 'b'],
      ['1000000000000', ''],
      ['none', ''],
      [c, 'c'],
    ],
  )
  assert.equal(first.lease_seconds, 30)
  assert.ok(Math.abs(first.now_ms - before) < 3_600_000)
  assert.match(first.partitions[0].lease_expires_at, /Z$/)
  const second = await claim([a, b], { lease_seconds: 600 })
  assert.deepEqual(statuses(second), ['busy', 'backlog'])
  assert.notEqual(second.lease_id, first.lease_id)
  await take(1)
  assert.deepEqual(statuses(await claim([b])), ['busy'], 'a batch that is being worked on')
  assert.deepEqual(statuses(await claim([b], { consumer_group: 'nobody' })), ['backlog'], 'a group that never read')
  assert.deepEqual((await claim([])).partitions, [])
  const unknown = await claim([a], { query_id: '999' })
  assert.deepEqual([unknown.success, unknown.reason], [false, 'unknown_query'])
  for (const [body, told] of [
    [{ partition_ids: 'a' }, /partition_ids/],
    [{ partition_ids: [a], lease_seconds: 601 }, /lease_seconds must be an integer from 1 to 600/],
    [{ partition_ids: Array.from({ length: 1_001 }, () => a) }, /partition_ids/],
  ] as const) {
    const { status, json } = await post('/streams/v1/claim', { query_id: '1', ...body })
    assert.deepEqual([status, told.test(json.error)], [400, true], json.error)
  }
})

test('a cycle under a claim commits state and pushes once, and gives the partition back', async (t) => {
  const { claim, readThrough, close, out, call, push, take } = await stand(t)
  const [a = ''] = await readThrough(['a'])
  const { lease_id } = await claim([a])
  const done = await close(a, lease_id)
  assert.deepEqual([done.success, done.ack_result.lease_released, done.ack_result.dlq], [true, true, false])
  assert.deepEqual((await call('state/get', { partition_id: a })).rows, [])
  const again = await close(a, lease_id)
  assert.deepEqual([again.success, again.reason], [false, 'rejected_ack'])
  assert.deepEqual(await out(), [a])
  assert.deepEqual(statuses(await claim([a])), ['claimed'])
  await push('in', ['later'], 'a')
  assert.deepEqual(await take(), [], 'the claim still holds the partition')
})

test('what comes during a claim is delivered after it, as a first delivery', async (t) => {
  const { claim, readThrough, close, push, take } = await stand(t)
  const [a = ''] = await readThrough(['a'])
  const { lease_id } = await claim([a])
  await push('in', ['during'], 'a')
  assert.deepEqual(await take(), [])
  const kept = await close(a, lease_id, {
    release_lease: false,
    ack: { leaseId: lease_id, status: 'completed', count: 1 },
  })
  assert.deepEqual([kept.success, kept.ack_result.lease_released], [true, false])
  assert.deepEqual(await take(), [], 'a cycle that keeps the lease keeps the partition')
  const given = await close(a, lease_id, { ack: { leaseId: lease_id, status: 'failed', count: 0 }, push_items: [] })
  assert.deepEqual([given.success, given.ack_result.lease_released], [true, true])
  const [message] = await take()
  assert.deepEqual([message.data, message.deliveryAttempt], ['during', 1])
})

test('a claim that lapses spends no budget of the messages behind it, and its cycle is refused', async (t) => {
  const { claim, readThrough, close, push, take, out, db, sql, post } = await stand(t)
  await post('/api/v1/configure', { queue: 'in', options: { crashLimit: 0 } })
  const [a = ''] = await readThrough(['a'])
  const { lease_id } = await claim([a], { lease_seconds: 1 })
  await push('in', ['behind'], 'a')
  await moveClock(db.database, 2_000)
  const late = await close(a, lease_id)
  assert.deepEqual([late.success, late.reason], [false, 'rejected_ack'])
  assert.deepEqual(await out(), [])
  const [message] = await take()
  assert.equal(message.data, 'behind', 'with a crash limit of 0 a charged lapse would have buried it')
  assert.deepEqual(await sql('select crashes from lockstep.lane where lease_id is not null'), [{ crashes: 0 }])
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.dead_letter'), [{ n: 0 }])
})

test('a seek ends a claim', async (t) => {
  const { claim, readThrough, close, post, out } = await stand(t)
  const [a = ''] = await readThrough(['a'])
  const { lease_id } = await claim([a])
  await post(`/api/v1/consumer-groups/${GROUP}/queues/in/seek`, { toEnd: true })
  assert.equal((await close(a, lease_id)).success, false)
  assert.deepEqual(await out(), [])
})

test('of many claims at once every partition goes to one', async (t) => {
  const { claim, readThrough } = await stand(t)
  const ids = await readThrough(Array.from({ length: 10 }, (_, nth) => `p${nth}`))
  const answers = await Promise.all(Array.from({ length: 8 }, async () => claim(ids)))
  const winners = ids.map((_, at) => answers.filter((answer) => answer.partitions[at].status === 'claimed').length)
  assert.deepEqual(
    winners,
    Array.from(ids, () => 1),
  )
})

test('the partitions with state come page by page, and those lately touched are left out on demand', async (t) => {
  const { readThrough, call, db, post } = await stand(t)
  const ids = await readThrough(['a', 'b', 'c'])
  const found: string[] = []
  let after: string | undefined
  for (let pages = 0; pages < 9; pages += 1) {
    const page = await call('state/partitions', { limit: 2, ...(after === undefined ? {} : { after }) })
    assert.ok(page.partitions.every((each: Untyped) => each.queue === 'in' && each.updated_at.endsWith('Z')))
    found.push(...page.partitions.map((each: Untyped) => each.partition_id))
    if (page.next === null) break
    after = page.next
  }
  assert.deepEqual(found, ids.toSorted())
  assert.deepEqual((await call('state/partitions', { untouched_for_ms: 5_000 })).partitions, [])
  await moveClock(db.database, 10_000)
  await call('cycle', {
    partition_id: ids[1],
    state_ops: [{ type: 'upsert', key: 'x', value: 1 }],
    push_items: [],
    ack: null,
  })
  const quiet = await call('state/partitions', { untouched_for_ms: 5_000, limit: 3 })
  assert.deepEqual(
    quiet.partitions.map((each: Untyped) => each.partition),
    ['a', 'c'],
  )
  assert.equal(quiet.next, ids[2], 'a page that left something out says where to go on')
  assert.deepEqual((await call('state/partitions', { query_id: '999' })).partitions, [])
  const wrong = await post('/streams/v1/state/partitions', { query_id: '1', after: 'x' })
  assert.deepEqual([wrong.status, /after must be/.test(wrong.json.error)], [400, true], wrong.json.error)
})

test('what is over is found over all partitions, the oldest first, with the time until the next', async (t) => {
  const { readThrough, call, post, db, sql } = await stand(t)
  const [a = '', b = '', c = ''] = await readThrough(['a', 'b', 'c'])
  const [now] = await sql('select floor(extract(epoch from lockstep.clock()) * 1000)::float8 as ms')
  const at = Number(now?.['ms'])
  const open = async (partition_id: string, ...ends: readonly number[]): Promise<void> => {
    const state_ops = [
      { type: 'delete', key: 'open' },
      ...ends.map((end, n) => ({ type: 'upsert', key: `w${n}`, value: { windowEnd: end } })),
    ]
    await call('cycle', { partition_id, state_ops, push_items: [], ack: null })
  }
  await open(a, at + 3_600_000, at + 7_200_000)
  await open(b, at + 1_800_000)
  await open(c)
  const first = await call('state/ripe', {})
  assert.deepEqual([first.success, first.partition_ids, first.more], [true, [], false])
  assert.ok(first.next_ms > 0 && first.next_ms <= 1_800_000, String(first.next_ms))
  await moveClock(db.database, 3_700_000)
  const over = await call('state/ripe', {})
  assert.deepEqual([over.partition_ids, over.more], [[b, a], false])
  assert.ok(over.next_ms > 3_000_000 && over.next_ms <= 3_600_000, String(over.next_ms))
  assert.deepEqual((await call('state/ripe', { limit: 1 })).partition_ids, [b])
  assert.deepEqual((await call('state/ripe', { limit: 1 })).more, true)
  const graced = await call('state/ripe', { grace_ms: 600_000 })
  assert.deepEqual(graced.partition_ids, [b])
  assert.ok(graced.next_ms <= 600_000)
  await open(a)
  await sql(`delete from lockstep.stream_state`)
  assert.deepEqual(await call('state/ripe', {}), { success: true, partition_ids: [], next_ms: null, more: false })
  assert.equal((await post('/streams/v1/state/ripe', { query_id: '999' })).json.reason, 'unknown_query')
  assert.match((await post('/streams/v1/state/ripe', { query_id: '1', grace_ms: -1 })).json.error, /grace_ms must be/)
})
