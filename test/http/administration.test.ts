// WIRE sections 11 and 12, the routes of administration: dead letters moved and removed, queues, groups and messages listed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Untyped } from '../../src/client/untyped.ts'
import type { TestEnd } from '../../src/testing/database.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { serve } from './served.ts'

/** Three dead letters of a group, named by their payloads. */
async function stand(t: TestEnd) {
  const served = await serve(t)
  const { push, pop, post, get } = served
  const ids = await push('q', ['a', 'b', 'c'])
  let partitionId = ''
  for (const [index, transactionId] of ids.entries()) {
    const { json } = await pop('q', 'consumerGroup=g&batch=1')
    partitionId = json.partitionId
    const item = { transactionId, partitionId, leaseId: json.leaseId, consumerGroup: 'g' }
    await post('/api/v1/ack', { ...item, status: 'dlq', error: `reason ${index}` })
  }
  const letters = async (): Promise<Untyped[]> => (await get('/api/v1/dlq?queue=q')).json.messages
  return { ...served, ids, partitionId, letters }
}

test('one dead letter is moved back in one step, under an id of its own', async (t) => {
  const { post, pop, letters, ids } = await stand(t)
  const [letter] = await letters()
  const parked = pop('q', 'consumerGroup=g&wait=true&timeout=20000')
  const moved = await post(`/api/v1/dlq/${letter.id}/replay`, '')
  assert.equal(moved.status, 200)
  assert.deepEqual(
    [moved.json.success, moved.json.result, moved.json.dlqRowRemoved, moved.json.originalTransactionId],
    [true, 'moved', true, ids[2]],
  )
  assert.equal(moved.json.replayedAs.transaction_id, `dlq:${letter.id}`)
  const { json } = await parked
  assert.deepEqual([json.messages[0].data, json.messages[0].transactionId], ['c', `dlq:${letter.id}`])
  assert.equal((await letters()).length, 2)
  const again = await post(`/api/v1/dlq/${letter.id}/replay`, '')
  assert.deepEqual([again.status, again.json.result], [404, 'gone'])
  assert.equal((await post('/api/v1/dlq/not-an-id/replay', '')).status, 404)
})

test('a dead letter may be moved elsewhere, but not to nowhere', async (t) => {
  const { post, pop, push, letters } = await stand(t)
  const [first, second] = await letters()
  await push('other', [0])
  const moved = await post(`/api/v1/dlq/${first.id}/replay`, { queue: 'other', partition: 'p' })
  assert.deepEqual([moved.json.queue, moved.json.partition], ['other', 'p'])
  const arrived: unknown[] = []
  await waitFor('both', async () => {
    const { status, json } = await pop('other', 'consumerGroup=h&partitions=9')
    if (status === 200) arrived.push(...json.messages.map((message: Untyped) => message.data))
    return arrived.length === 2
  })
  assert.deepEqual(new Set(arrived), new Set([0, 'c']))
  const nowhere = await post(`/api/v1/dlq/${second.id}/replay`, { queue: 'none' })
  assert.deepEqual([nowhere.status, nowhere.json.reason, nowhere.json.dlqRowRemoved], [409, 'queue_not_found', false])
  assert.equal((await post(`/api/v1/dlq/${second.id}/replay`, { queue: '' })).status, 400)
  assert.equal((await letters()).length, 2)
})

test('one is shown by its id, and moved by the address of its message', async (t) => {
  const { get, post, letters } = await stand(t)
  const [letter] = await letters()
  const shown = await get(`/api/v1/dlq/${letter.id}`)
  assert.deepEqual([shown.status, shown.json], [200, letter])
  for (const id of ['x', '01a227d9-6709-7029-9680-345d117a9c71'])
    assert.equal((await get(`/api/v1/dlq/${id}`)).status, 404)
  assert.equal((await get('/api/v1/dlq?queue=q&error=reason%201')).json.messages.length, 1)
  const address = `/api/v1/messages/${letter.partitionId}/${encodeURIComponent(letter.transactionId)}/retry`
  const nowhere = await post(address, { queue: 'none' })
  assert.deepEqual([nowhere.status, nowhere.json.reason], [409, 'queue_not_found'])
  const moved = await post(address, '')
  assert.deepEqual([moved.status, moved.json.result, moved.json.dlqId], [200, 'moved', letter.id])
  const live = await post(address, '')
  assert.deepEqual([live.status, live.json.result], [404, 'gone'])
  assert.equal((await post('/api/v1/messages/none/x/retry', '')).status, 404)
})

test('many are moved or removed by what selects them, after a dry run that changes nothing', async (t) => {
  const { post, send, letters } = await stand(t)
  const body = { queue: 'q', consumerGroup: 'g', error: 'reason 1' }
  const dry = await post('/api/v1/dlq/replay', { ...body, dryRun: true })
  assert.deepEqual([dry.json.matched, dry.json.moved], [1, 0])
  const moved = await post('/api/v1/dlq/replay', body)
  assert.deepEqual([moved.status, moved.json.matched, moved.json.moved], [200, 1, 1])
  const counted = await send('DELETE', '/api/v1/dlq?queue=q&dryRun=true')
  assert.deepEqual([counted.json.deleted, (await letters()).length], [2, 2])
  assert.equal((await send('DELETE', '/api/v1/dlq?queue=q&consumerGroup=other')).json.deleted, 0)
  const purged = await send('DELETE', '/api/v1/dlq?queue=q')
  assert.deepEqual([purged.status, purged.json.deleted, (await letters()).length], [200, 2, 0])
  const bare = await send('DELETE', '/api/v1/dlq')
  assert.deepEqual([bare.status, bare.json.error], [400, 'queue is required'])
  assert.equal((await post('/api/v1/dlq/replay', {})).status, 400)
})

test('the dead letters of one message are removed by its address; a live message is not touched', async (t) => {
  const { send, push, get, ids, partitionId, letters } = await stand(t)
  const path = `/api/v1/messages/${partitionId}/${ids[0]}`
  const removed = await send('DELETE', path)
  assert.deepEqual([removed.status, removed.json.deleted, (await letters()).length], [200, 1, 2])
  assert.equal((await send('DELETE', path)).status, 404)
  const [live] = await push('q', ['live'])
  assert.equal((await send('DELETE', `/api/v1/messages/${partitionId}/${live}`)).status, 404)
  assert.equal((await get(`/api/v1/messages/${partitionId}/${live}`)).status, 200)
})

test('a queue is shown with its partitions and its depth for a group', async (t) => {
  const { push, pop, get } = await serve(t)
  await push('q', [1, 2], 'a')
  await push('q', [3], 'b')
  await pop('q', 'consumerGroup=g&batch=1&autoAck=true')
  const shown = await get('/api/v1/resources/queues/q')
  assert.equal(shown.status, 200)
  assert.deepEqual(
    shown.json.partitions.map((partition: Untyped) => [partition.name, partition.stats.total]),
    [
      ['a', 2],
      ['b', 1],
    ],
  )
  assert.equal(shown.json.totals.total, 3)
  const depth = await get('/api/v1/resources/queues/q/depth?group=g')
  assert.deepEqual(
    [depth.json.queue, depth.json.group, depth.json.pending, depth.json.effectivePending],
    ['q', 'g', 2, 2],
  )
  assert.equal((await get('/api/v1/resources/queues/q/depth')).json.pending, 3)
  for (const path of ['/api/v1/resources/queues/none', '/api/v1/resources/queues/none/depth']) {
    const { status, json } = await get(path)
    assert.deepEqual([status, json.error], [404, 'Queue not found'])
  }
})

test('groups are listed with their backlog, and one with its lanes', async (t) => {
  const { push, pop, get, post } = await serve(t)
  await push('q', [1, 2], 'a')
  await pop('q', 'consumerGroup=g&batch=1')
  const { json } = await get('/api/v1/consumer-groups')
  assert.deepEqual(
    json.map((group: Untyped) => [group.name, group.queueName, group.totalLag, group.state, group.subscriptionMode]),
    [['g', 'q', 2, 'Lagging', 'all']],
  )
  const detail = await get('/api/v1/consumer-groups/g')
  assert.deepEqual([detail.json.q.partitions[0].partition, detail.json.q.partitions[0].leaseActive], ['a', true])
  assert.deepEqual((await get('/api/v1/consumer-groups/none')).json, {})
  const moved = await post('/api/v1/consumer-groups/g/subscription', { subscriptionTimestamp: '2026-01-01T00:00:00Z' })
  assert.deepEqual([moved.status, moved.json.success, moved.json.rowsUpdated], [200, true, 1])
  assert.equal((await post('/api/v1/consumer-groups/g/subscription', {})).status, 400)
})

test('messages are listed newest first, page by page, without a repeat and without a gap', async (t) => {
  const { push, get } = await serve(t)
  await push(
    'q',
    Array.from({ length: 50 }, (_, i) => i),
  )
  const seen: number[] = []
  for (let offset = 0; ; offset += 7) {
    const { json } = await get(`/api/v1/messages?queue=q&limit=7&offset=${offset}`)
    if (json.messages.length === 0) break
    for (const message of json.messages) seen.push(message.data)
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 50 }, (_, i) => 49 - i),
  )
  assert.equal((await get('/api/v1/messages?queue=q&status=completed')).json.messages.length, 0)
  assert.equal((await get('/api/v1/messages?status=odd')).status, 400)
})
