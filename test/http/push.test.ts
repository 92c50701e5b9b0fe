// WIRE section 3: one answer per item in order, duplicates by partition and window, read-your-writes, shapes refused.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { exchange, serve } from './served.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('each item is answered in order, in the mixed case of the wire', async (t) => {
  const { post } = await serve(t)
  const { status, json } = await post('/api/v1/push', {
    items: [
      { queue: 'a', payload: 1, transactionId: 'x' },
      { queue: 'b', payload: null, partition: 'p' },
      { queue: 'a', payload: { deep: [1] } },
    ],
  })
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(json[0]), ['index', 'message_id', 'transaction_id', 'queueName', 'status', 'offset'])
  assert.deepEqual(
    json.map((item: Untyped) => [item.index, item.queueName, item.status, item.offset]),
    [
      [0, 'a', 'queued', 0],
      [1, 'b', 'queued', 0],
      [2, 'a', 'queued', 1],
    ],
  )
  assert.equal(json[0].transaction_id, 'x')
  assert.equal(json[1].transaction_id, json[1].message_id)
  for (const item of json) assert.match(item.message_id, UUID_V7)
})

test('no items is 201 and an empty list', async (t) => {
  const { post } = await serve(t)
  const { status, text } = await post('/api/v1/push', { items: [] })
  assert.equal(status, 201)
  assert.equal(text, '[]')
})

test('a missing or mistyped field refuses the request and names it by its path', async (t) => {
  const { post, sql } = await serve(t)
  const ok = { queue: 'q', payload: 1 }
  const wrong: readonly [unknown, RegExp][] = [
    [{}, /^bad body: items must be an array/],
    [{ items: {} }, /^bad body: items must be an array/],
    [{ items: [ok, { payload: 1 }] }, /^bad body: items\[1\]\.queue must be/],
    [{ items: [ok, { queue: 'q' }] }, /^bad body: items\[1\]\.payload must be present/],
    [{ items: [{ queue: 'q', data: 1 }] }, /^bad body: items\[0\]\.payload must be present/],
    [{ items: [{ ...ok, transactionId: 7 }] }, /^bad body: items\[0\]\.transactionId must be/],
    [{ items: [{ ...ok, partition: '' }] }, /^bad body: items\[0\]\.partition must be/],
    [{ items: [null] }, /^bad body: items\[0\] must be an object/],
    ['{"items":[{"queue":"q","payload":01}]}', /^bad body: no JSON/],
    ['', /^bad body: no JSON/],
  ]
  for (const [body, message] of wrong) {
    const { status, json } = await post('/api/v1/push', body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(json.error, message)
  }
  assert.deepEqual(await sql('select 1 from lockstep.message'), [])
})

test('a transaction id is remembered per partition: the repeat carries the first id', async (t) => {
  const { post } = await serve(t)
  const item = { queue: 'q', payload: { a: 1 }, transactionId: 'same' }
  const first = await post('/api/v1/push', { items: [item, item, { ...item, partition: 'other' }] })
  assert.deepEqual(
    first.json.map((one: Untyped) => one.status),
    ['queued', 'duplicate', 'queued'],
  )
  assert.equal(first.json[1].message_id, first.json[0].message_id)
  const again = await post('/api/v1/push', { items: [item] })
  assert.equal(again.json[0].status, 'duplicate')
  assert.equal(again.json[0].message_id, first.json[0].message_id)
  assert.equal('conflict' in again.json[0], false)
})

test('a transaction id is remembered by a broker started later, and when all that it named is consumed', async (t) => {
  const first = await serve(t)
  const item = { queue: 'q', payload: 1, transactionId: 'k' }
  const lost = await first.post('/api/v1/transaction', {
    operations: [{ type: 'push', items: [item] }],
    kv: [{ op: 'check', ns: 'a', key: 'none', expect: 7, required: true }],
  })
  assert.equal(lost.json.success, false)
  const [stored] = (await first.post('/api/v1/push', { items: [item] })).json
  assert.equal(stored.status, 'queued', 'an id of what rolled back names nothing')
  await first.broker.stop()

  const later = createBroker({ connectionString: first.db.connectionString, port: 0, connections: 3 })
  await later.start()
  t.after(() => later.stop())
  const again = async (): Promise<readonly unknown[]> => {
    const [{ status, message_id }] = (await exchange(later.address, 'POST', '/api/v1/push', { items: [item] })).json
    return [status, message_id]
  }
  assert.deepEqual(await again(), ['duplicate', stored.message_id])
  const taken = await exchange(later.address, 'GET', '/api/v1/pop/queue/q?subscriptionMode=all&autoAck=true')
  assert.equal(taken.json.messages.length, 1)
  assert.deepEqual(await again(), ['duplicate', stored.message_id])
})

test('a known id with another payload is told apart and stores nothing', async (t) => {
  const { post, sql } = await serve(t)
  const first = await post('/api/v1/push', { items: [{ queue: 'q', payload: 1, transactionId: 'k' }] })
  const other = await post('/api/v1/push', { items: [{ queue: 'q', payload: 2, transactionId: 'k' }] })
  assert.equal(other.json[0].status, 'duplicate')
  assert.equal(other.json[0].conflict, true)
  assert.equal(other.json[0].message_id, first.json[0].message_id)
  assert.deepEqual(await sql('select payload from lockstep.message'), [{ payload: '1' }])
})

test('of eight pushes of one id at once exactly one is queued', async (t) => {
  const { post } = await serve(t)
  const replies = await Promise.all(
    Array.from({ length: 8 }, () =>
      post('/api/v1/push', { items: [{ queue: 'q', payload: 1, transactionId: 'once' }] }),
    ),
  )
  const answers = replies.map(({ json }) => json[0])
  assert.equal(answers.filter((one) => one.status === 'queued').length, 1)
  assert.equal(answers.filter((one) => one.status === 'duplicate').length, 7)
  assert.equal(new Set(answers.map((one) => one.message_id)).size, 1)
})

test('with the window at 0 nothing is a duplicate', async (t) => {
  const { post } = await serve(t)
  await post('/api/v1/configure', { queue: 'q', options: { dedupWindowSeconds: 0 } })
  const item = { queue: 'q', payload: 1, transactionId: 'k' }
  for (let i = 0; i < 2; i++) {
    const { json } = await post('/api/v1/push', { items: [item] })
    assert.equal(json[0].status, 'queued')
  }
})

test('a pop right after the answer sees the message, in order, with one instant', async (t) => {
  const { push, pop } = await serve(t)
  await push(
    'q',
    Array.from({ length: 50 }, (_, i) => i),
  )
  const { json } = await pop('q')
  assert.deepEqual(
    json.messages.map((message: Untyped) => message.data),
    Array.from({ length: 50 }, (_, i) => i),
  )
  assert.equal(new Set(json.messages.map((message: Untyped) => message.createdAt)).size, 1)
})

test('a hundred items without ids get a hundred ids', async (t) => {
  const { post } = await serve(t)
  const items = Array.from({ length: 100 }, () => ({ queue: 'q', payload: 1 }))
  const { json } = await post('/api/v1/push', { items })
  assert.equal(new Set(json.map((one: Untyped) => one.transaction_id)).size, 100)
})

test('a producerSub in the body is never honoured', async (t) => {
  const { post, pop } = await serve(t)
  await post('/api/v1/push', { items: [{ queue: 'q', payload: 1, producerSub: 'admin' }] })
  const { json } = await pop('q')
  assert.equal(json.messages[0].producerSub, null)
})

test('maxSize refuses what does not fit, item by item', async (t) => {
  const { post } = await serve(t)
  await post('/api/v1/configure', { queue: 'q', options: { maxSize: 2 } })
  const { status, json } = await post('/api/v1/push', {
    items: [1, 2, 3].map((payload) => ({ queue: 'q', payload })),
  })
  assert.equal(status, 201)
  assert.deepEqual(
    json.map((one: Untyped) => [one.status, one.error]),
    [
      ['queued', undefined],
      ['queued', undefined],
      ['error', 'queue_full'],
    ],
  )
})

test('a payload of two megabytes travels unchanged', async (t) => {
  const { post, pop } = await serve(t)
  const payload = JSON.stringify({ text: 'é'.repeat(1_000_000) })
  const pushed = await post('/api/v1/push', `{"items":[{"queue":"q","payload":${payload}}]}`)
  assert.equal(pushed.status, 201)
  const { text } = await pop('q')
  assert.ok(text.includes(`"data":${payload}`))
})

test('the same Idempotency-Key answers the first result and stores once; another body is a conflict', async (t) => {
  const { post, sql } = await serve(t)
  const body = { items: [{ queue: 'q', payload: 1 }] }
  const key = { 'idempotency-key': 'push-1' }
  const first = await post('/api/v1/push', body, key)
  const again = await post('/api/v1/push', body, key)
  assert.equal(again.status, 201)
  assert.equal(again.text, first.text)
  const other = await post('/api/v1/push', { items: [{ queue: 'q', payload: 2 }] }, key)
  assert.equal(other.status, 409)
  assert.equal(other.json.code, 'request_conflict')
  const inBody = await post('/api/v1/push', { ...body, requestId: 'push-2' })
  assert.equal((await post('/api/v1/push', { ...body, requestId: 'push-2' })).text, inBody.text)
  const [row] = await sql('select count(*)::int as n from lockstep.message')
  assert.equal(row?.['n'], 2)
  assert.equal((await post('/api/v1/push', { ...body, requestId: 'x' }, { 'idempotency-key': 'y' })).status, 400)
})

test('a request id and a push without one may race: one of each id', async (t) => {
  const { post, sql } = await serve(t)
  const body = { items: [{ queue: 'q', payload: 1 }], requestId: 'r' }
  const replies = await Promise.all(Array.from({ length: 6 }, () => post('/api/v1/push', body)))
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
  const [row] = await sql('select count(*)::int as n from lockstep.message')
  assert.equal(row?.['n'], 1)
})
