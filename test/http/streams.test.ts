// WIRE section 13: registration, state, and cycles that commit state, pushes and the source's ack together or not at all.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { removeQueues } from '../../src/upkeep/remove-queues.ts'
import { jobNamed } from '../kit/job-named.ts'
import { openSessions, waitFor, waitUntilBlocked } from '../../src/testing/sessions.ts'
import type { TestEnd } from '../../src/testing/database.ts'
import { serveSpread } from './served.ts'

const GROUP = 'streams.totals'

async function stand(t: TestEnd) {
  const served = await serveSpread(t)
  const register = async (more: object = {}): Promise<Untyped> =>
    (await served.post('/streams/v1/queries', { name: 'totals', source_queue: 'in', config_hash: 'h1', ...more })).json
  const { query_id } = await register()
  const take = async (batch: number): Promise<Untyped[]> => {
    const { status, json } = await served.pop('in', `consumerGroup=${GROUP}&batch=${batch}`)
    return status === 200 ? json.messages : []
  }
  const cycle = async (body: object): Promise<Untyped> => {
    const { status, json, text } = await served.post('/streams/v1/cycle', { query_id, consumer_group: GROUP, ...body })
    assert.equal(status, 200, text)
    return json
  }
  const state = async (partition_id: string, more: object = {}): Promise<Untyped> => {
    const { status, json, text } = await served.post('/streams/v1/state/get', { query_id, partition_id, ...more })
    assert.equal(status, 200, text)
    return Object.fromEntries(json.rows.map((row: Untyped) => [row.key, row.value]))
  }
  const out = async (): Promise<Untyped[]> => {
    const { status, json } = await served.pop('out', 'consumerGroup=reader&autoAck=true&partitions=9')
    return status === 200 ? json.messages.map((message: Untyped) => message.data) : []
  }
  return { ...served, register, queryId: query_id, take, cycle, state, out }
}

const put = (key: string, value: unknown) => ({ type: 'upsert', key, value })

test('a name is registered once; the same configuration goes on, another one is refused or starts without state', async (t) => {
  const { register, queryId, post, push, take, cycle, state, sql, db } = await stand(t)
  assert.deepEqual(await register(), {
    success: true,
    query_id: queryId,
    name: 'totals',
    config_hash: 'h1',
    fresh: false,
    reset: false,
  })
  await push('in', [1])
  const [message] = await take(1)
  const { partitionId } = message
  await cycle({ partition_id: partitionId, state_ops: [put('k', 1)], push_items: [], ack: null })
  const other = await post('/streams/v1/queries', { name: 'totals', source_queue: 'in', config_hash: 'h2' })
  assert.deepEqual([other.status, other.json.success, other.json.code], [409, false, 'stream_conflict'])
  assert.deepEqual(await state(partitionId), { k: 1 })
  const reset = await register({ config_hash: 'h2', reset: true })
  assert.deepEqual([reset.success, reset.fresh, reset.reset], [true, false, true])
  const moved = await post('/streams/v1/state/get', { query_id: reset.query_id, partition_id: partitionId })
  assert.deepEqual(moved.json.rows, [])
  const late = await cycle({ partition_id: partitionId, state_ops: [put('k', 2)], push_items: [], ack: null })
  assert.deepEqual([late.success, late.reason], [false, 'unknown_query'])
  for (let more = true; more;) more = (await jobNamed('remove_stream_state').step(db.database)).more
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.stream_state'), [{ n: 0 }])
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.stream_query'), [{ n: 1 }])
  const missing = await post('/streams/v1/queries', { name: 'totals', source_queue: 'in' })
  assert.equal(missing.status, 400)
  assert.match(missing.json.error, /config_hash must be text of 1 to 512 bytes/)
})

test('two first registrations of one name at once give one query', async (t) => {
  const { register } = await stand(t)
  const answers = await Promise.all(Array.from({ length: 8 }, () => register({ name: 'many' })))
  assert.equal(new Set(answers.map((answer) => answer.query_id)).size, 1)
  assert.equal(answers.filter((answer) => answer.fresh).length, 1)
})

test('a cycle writes state, pushes and acks the whole batch in one commit', async (t) => {
  const { push, take, cycle, state, out, queryId } = await stand(t)
  await push('in', [1, 2, 3], 'acme')
  const messages = await take(10)
  const { partitionId: partition_id, leaseId, transactionId } = messages[2]
  const done = await cycle({
    partition_id,
    state_ops: [
      put('w\u001fa', { acc: 6, windowEnd: 2_000 }),
      put('w\u001fb', { acc: 1, windowEnd: 3_000.5 }),
      put('plain', null),
    ],
    push_items: [
      { queue: 'out', partition: 'acme', payload: { total: 6 } },
      { queue: 'out', data: '9007199254740993' },
    ],
    ack: { transactionId, leaseId, status: 'completed', count: 3 },
  })
  assert.deepEqual(done, {
    success: true,
    query_id: queryId,
    partition_id,
    queueName: 'in',
    state_ops_applied: 3,
    push_results: [
      { queue: 'out', partition: 'acme', status: 'queued', baseOffset: 0 },
      { queue: 'out', partition: 'Default', status: 'queued', baseOffset: 0 },
    ],
    ack_result: { success: true, count: 3, lease_released: true, dlq: false },
  })
  assert.deepEqual(new Set(await out()), new Set([{ total: 6 }, '9007199254740993']))
  assert.deepEqual(await take(10), [])
  await push('in', [4], 'acme')
  assert.deepEqual(
    (await take(10)).map((message) => message.data),
    [4],
  )

  const ripe = (at: number, more: object = {}) => state(partition_id, { ripe_at_or_before: at, ...more })
  assert.deepEqual(Object.keys(await ripe(1_999)), [])
  assert.deepEqual(Object.keys(await ripe(2_000)), ['w\u001fa'])
  assert.deepEqual(Object.keys(await ripe(9_000, { key_prefix: 'w\u001f' })), ['w\u001fa', 'w\u001fb'])
  assert.deepEqual(await state(partition_id, { keys: ['plain', 'absent'] }), { plain: null })
  assert.deepEqual(Object.keys(await state(partition_id, { limit: 2 })), ['plain', 'w\u001fa'])
  assert.deepEqual(Object.keys(await ripe(9_000, { limit: 1 })), ['w\u001fa'])
  assert.deepEqual(Object.keys(await state(partition_id, { keys: [] })), ['plain', 'w\u001fa', 'w\u001fb'])
  await cycle({
    partition_id,
    state_ops: [{ type: 'delete', key: 'w\u001fa' }, put('plain', 1), put('plain', 2)],
    push_items: [],
    ack: null,
  })
  assert.deepEqual(await state(partition_id), { plain: 2, 'w\u001fb': { acc: 1, windowEnd: 3_000.5 } })
})

test('a partial ack moves the cursor by its count and keeps the lease for the rest', async (t) => {
  const { push, take, cycle, state, sql } = await stand(t)
  await push('in', [1, 2, 3, 4])
  const [first] = await take(3)
  const { partitionId: partition_id, leaseId } = first
  const part = (count: number) =>
    cycle({
      partition_id,
      state_ops: [put('taken', count)],
      push_items: [],
      ack: { transactionId: first.transactionId, leaseId, status: 'completed', count },
      release_lease: false,
    })
  const one = await part(1)
  assert.deepEqual([one.success, one.ack_result.lease_released], [true, false])
  assert.deepEqual(await take(10), [], 'the lease is still held')
  // Past the batch's end: what is left of the batch, and no more.
  const rest = await part(9)
  assert.deepEqual([rest.success, rest.ack_result.lease_released], [true, true])
  assert.deepEqual(
    (await take(10)).map((message) => message.data),
    [4],
  )
  assert.deepEqual(await state(partition_id), { taken: 9 })
  const [lane] = await sql('select committed::int from lockstep.lane')
  assert.equal(lane?.['committed'], 3)
})

test('a cycle whose lease is lost, foreign or absent changes nothing', async (t) => {
  const { push, take, cycle, state, out, sql } = await stand(t)
  await push('in', [1, 2])
  const [message] = await take(10)
  const { partitionId: partition_id, leaseId } = message
  const body = (lease: string) => ({
    partition_id,
    state_ops: [put('k', 1)],
    push_items: [{ queue: 'out', payload: 1 }],
    ack: { transactionId: message.transactionId, leaseId: lease, status: 'completed', count: 2 },
  })
  for (const lost of [
    await cycle(body('no-such-lease')),
    await cycle({ ...body(leaseId), consumer_group: 'another' }),
  ]) {
    assert.deepEqual([lost.success, lost.reason], [false, 'rejected_ack'])
    assert.match(lost.error, /invalid or expired lease/)
  }
  await sql(`update lockstep.lane set lease_expires_at = lease_expires_at - interval '1 day'`)
  const late = await cycle(body(leaseId))
  assert.deepEqual([late.success, late.reason], [false, 'rejected_ack'])
  assert.deepEqual([await state(partition_id), await out()], [{}, []])
  const nowhere = await cycle({ ...body(leaseId), partition_id: '1000000000000099', ack: null })
  assert.deepEqual([nowhere.success, nowhere.reason], [false, 'unknown_partition'])
})

test('an ack that is no success gives the lease up and moves nothing', async (t) => {
  const { push, take, cycle } = await stand(t)
  await push('in', [1, 2])
  const [message] = await take(10)
  const { partitionId: partition_id, leaseId, transactionId } = message
  const back = await cycle({
    partition_id,
    state_ops: [],
    push_items: [],
    ack: { transactionId, leaseId, status: 'failed', count: 2 },
  })
  assert.deepEqual([back.success, back.ack_result.lease_released, back.ack_result.dlq], [true, true, false])
  let again: Untyped[] = []
  await waitFor('the messages again', async () => (again = await take(10)).length > 0)
  assert.deepEqual(
    again.map((each) => each.data),
    [1, 2],
  )
})

test('the same cycle sent twice under one request id is applied once and answers the same', async (t) => {
  const { push, take, cycle, out } = await stand(t)
  await push('in', [1])
  const [{ partitionId: partition_id, leaseId, transactionId }] = await take(1)
  const body = {
    requestId: 'cycle-1',
    partition_id,
    state_ops: [put('k', 1)],
    push_items: [{ queue: 'out', payload: 'once' }],
    ack: { transactionId, leaseId, status: 'completed', count: 1 },
  }
  const first = await cycle(body)
  assert.equal(first.success, true)
  assert.deepEqual(await cycle(body), first)
  const { requestId: _, ...bare } = body
  assert.deepEqual((await cycle(bare)).reason, 'rejected_ack')
  assert.deepEqual(await out(), ['once'])
})

test('a push that loses leaves neither state nor ack behind', async (t) => {
  const { post, push, take, cycle, state, sql } = await stand(t)
  await post('/api/v1/push', { items: [{ queue: 'out', transactionId: 'known', payload: 1 }] })
  await push('in', [1])
  const [{ partitionId: partition_id, leaseId, transactionId }] = await take(1)
  const lost = await cycle({
    partition_id,
    state_ops: [put('k', 1)],
    push_items: [{ queue: 'out', transactionId: 'known', payload: 1 }],
    ack: { transactionId, leaseId, status: 'completed', count: 1 },
  })
  assert.deepEqual([lost.success, lost.reason], [false, 'duplicate'])
  assert.deepEqual(await state(partition_id), {})
  assert.deepEqual(await sql(`select lease_id from lockstep.lane where lease_id is not null`), [{ lease_id: leaseId }])
})

test('two cycles over the same keys at once wait for each other and both are whole', async (t) => {
  const { push, take, queryId, state, db } = await stand(t)
  await push('in', [1])
  const [{ partitionId }] = await take(1)
  const { a, b } = await openSessions(db, ['a', 'b'])
  const queue = Number(partitionId.slice(0, -12))
  const call = (keys: string, value: string) =>
    `select * from lockstep.stream_cycle(${queryId}, ${queue}, ${Number(partitionId.slice(-12))}, null, null, null, null, true, ${keys}, array_fill('${value}'::text, array[2]), array[null, null]::float8[], '{}', '{}', '{}', '{}', '{}', '{}', '{}')`
  await a.run('begin')
  await a.run(call(`array['x','y']`, '1'))
  const waiting = b.run(call(`array['y','x']`, '2'))
  await waitUntilBlocked(db, 1)
  await a.run('commit')
  await waiting
  assert.deepEqual(await state(partitionId), { x: 2, y: 2 })
})

test('what streams remember of a deleted queue goes with it', async (t) => {
  const { push, take, cycle, send, sql, db } = await stand(t)
  await push('in', [1])
  const [{ partitionId: partition_id }] = await take(1)
  await cycle({ partition_id, state_ops: [put('k', 1)], push_items: [], ack: null })
  await send('DELETE', '/api/v1/resources/queues/in')
  const late = await cycle({ partition_id, state_ops: [put('k', 2)], push_items: [], ack: null })
  assert.equal(late.reason, 'unknown_partition')
  for (let more = true; more;) more = (await removeQueues().step(db.database)).more
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.stream_state'), [{ n: 0 }])
})

test('what a stream sends is checked field by field', async (t) => {
  const { post, queryId } = await stand(t)
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ query_id: 'x' }, /query_id must be the query_id of a registration/],
    [{}, /query_id must be/],
    [{ query_id: queryId }, /partition_id must be text/],
    [
      { query_id: queryId, partition_id: '1', state_ops: [{ type: 'merge', key: 'k' }] },
      /state_ops\[0\]\.type must be one of upsert, delete/,
    ],
    [
      { query_id: queryId, partition_id: '1', state_ops: [{ type: 'upsert', key: 'k' }] },
      /state_ops\[0\]\.value must be present/,
    ],
    [
      { query_id: queryId, partition_id: '1', state_ops: [{ type: 'upsert', key: '', value: 1 }] },
      /state_ops\[0\]\.key must be text of 1 to 1024 bytes/,
    ],
    [
      { query_id: queryId, partition_id: '1', push_items: [{ queue: 'q' }] },
      /push_items\[0\]\.payload must be present/,
    ],
    [{ query_id: queryId, partition_id: '1', ack: { leaseId: 'l', status: 'done' } }, /ack\.status must be one of/],
    [
      { query_id: queryId, partition_id: '1', ack: { leaseId: 'l' }, release_lease: false },
      /ack\.count must be an integer/,
    ],
  ]
  for (const [body, message] of cases) {
    const { status, json } = await post('/streams/v1/cycle', body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(json.error, message)
  }
})

test('state past what one answer holds is refused whole, and what just fits is answered', async (t) => {
  const { push, take, cycle, sql } = await stand(t)
  await push('in', [1], 'p')
  const [{ partitionId, leaseId, transactionId }] = await take(1)
  const ack = { transactionId, leaseId, status: 'completed', count: 1 }
  await cycle({ partition_id: partitionId, state_ops: [put('a', 'xx'), put('b', 'yy')], push_items: [], ack })
  const read = (bytes: number) =>
    sql(
      `select s.key from lockstep.stream_state k
         cross join lateral lockstep.stream_state(k.query_id, k.queue_id, k.partition_id, p_max_bytes => $1) s
        where k.key = 'a'`,
      bytes,
    )
  // Two keys of one byte, two values of four.
  assert.equal((await read(10)).length, 2)
  await assert.rejects(read(9), /more than the 9 of one answer/)
})
