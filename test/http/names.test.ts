// CASES B20 to B23: names are values and come back exact and distinct or are refused before any write; payload bytes come
// back equal; a bad payload is its own item's fault; numbers are checked at the door.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from './served.ts'

const ODD = [
  "a'; drop table lockstep.queue;--",
  'a"b',
  'a\\b',
  '%2e%2e',
  '..%2f',
  'A',
  'a',
  'é',
  'e\u0301',
  '😀',
  '\u200fright',
  ' ',
  '  ',
  'a\nb\t\u0001',
  '__proto__',
  'constructor',
  'a/b?c#d&e=f+g',
  '{1,2}',
  'NULL',
  '',
  'x'.repeat(512),
]
const REFUSED = ['a\0b', '.', '..', 'x'.repeat(513), 'é'.repeat(257), 'y'.repeat(10_000)]

test('an odd queue, partition, group or id comes back exactly and stays apart from its neighbours', async (t) => {
  const { post, get, send } = await serve(t)
  for (const name of ODD.filter((each) => each !== '')) {
    const items = [{ queue: name, partition: name, transactionId: name, payload: name }]
    const pushed = await post('/api/v1/push', { items })
    assert.equal(pushed.status, 201, JSON.stringify(name))
    assert.equal(pushed.json[0].status, 'queued')
    assert.equal(pushed.json[0].queueName, name)
  }
  for (const name of ODD.filter((each) => each !== '')) {
    const part = encodeURIComponent(name)
    const ways = [
      { path: `/api/v1/pop/queue/${part}`, group: name },
      { path: `/api/v1/pop/queue/${part}/partition/${part}`, group: 'plain' },
    ]
    for (const { path, group } of ways) {
      const { status, json } = await get(`${path}?consumerGroup=${encodeURIComponent(group)}&subscriptionMode=all`)
      assert.equal(status, 200, JSON.stringify(name))
      assert.equal(json.messages.length, 1)
      const [message] = json.messages
      assert.deepEqual(
        [json.queue, message.partition, message.transactionId, message.data, message.consumerGroup],
        [name, name, name, name, group],
      )
      const found = await get(`/api/v1/messages/${message.partitionId}/${part}`)
      assert.deepEqual([found.status, found.json.queue, found.json.transactionId], [200, name, name])
      const acked = await post('/api/v1/ack', {
        transactionId: name,
        partitionId: message.partitionId,
        leaseId: message.leaseId,
        consumerGroup: group,
        status: 'dlq',
        error: name,
      })
      assert.deepEqual([acked.json[0].success, acked.json[0].dlq], [true, true])
    }
    const letters = await get(`/api/v1/dlq?queue=${part}&partition=${part}`)
    assert.ok(letters.json.messages.length >= 1, JSON.stringify(name))
    assert.ok(letters.json.messages.every((letter: Untyped) => letter.queue === name && letter.partition === name))
  }
  const listed = await get('/api/v1/resources/queues')
  assert.deepEqual(
    new Set(listed.json.queues.map((queue: Untyped) => queue.name)),
    new Set(ODD.filter((each) => each !== '')),
  )
  for (const name of ODD.filter((each) => each !== '')) {
    const gone = await send('DELETE', `/api/v1/resources/queues/${encodeURIComponent(name)}`)
    assert.deepEqual([gone.json.existed, gone.json.queue], [true, name])
  }
})

test('an odd key of state comes back exactly and stays apart', async (t) => {
  const { post } = await serve(t)
  const keys = ODD.filter((each) => each !== '')
  const puts = keys.map((key) => ({ op: 'put', ns: 'a', key, value: key, forever: true }))
  assert.equal((await post('/api/v1/kv', puts)).status, 200)
  const { json } = await post('/api/v1/kv', [{ op: 'getMany', ns: 'a', keys }])
  assert.deepEqual(
    new Map(json.results[0].rows.map((row: Untyped) => [row.key, row.value])),
    new Map(keys.map((k) => [k, k])),
  )
  for (const ns of ['A', 'é', "a'b", '', ' ', 'a b', '-a', '../a', '__proto__']) {
    const { status, json: fault } = await post('/api/v1/kv', [{ op: 'get', ns, key: 'k' }])
    assert.deepEqual([status, fault.reason], [400, 'kv_bad_ns'], ns)
  }
})

test('in a push a name that cannot be kept costs its own item and no neighbour; a field of a wrong kind costs the request', async (t) => {
  const { post, sql } = await serve(t)
  const names = REFUSED.filter((name) => name !== '')
  const items = names.flatMap((name) => [
    { queue: 'ok', payload: 1 },
    { queue: name, payload: 1 },
    { queue: 'ok', partition: name, payload: 1, transactionId: 'known' },
  ])
  const { status, json } = await post('/api/v1/push', {
    items: [...items, { queue: 'ok', payload: 1, traceId: 'a\0b' }],
  })
  assert.equal(status, 201)
  assert.equal(json.length, items.length + 1)
  for (const [index, result] of json.entries()) {
    assert.equal(result.index, index)
    if (index % 3 === 0 && index < items.length) {
      assert.deepEqual([result.status, result.queueName], ['queued', 'ok'])
      continue
    }
    const field = index === items.length ? 'traceId' : index % 3 === 1 ? 'queue' : 'partition'
    assert.deepEqual([result.status, result.error.startsWith(`items[${index}].${field} must be `)], ['error', true])
    if (field === 'partition') assert.deepEqual([result.queueName, result.transaction_id], ['ok', 'known'])
  }
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.message'), [{ n: names.length }])
  assert.deepEqual(await sql('select name from lockstep.queue'), [{ name: 'ok' }])
  for (const wrong of [{ queue: 7 }, { queue: 'ok', partition: 7 }, {}, { queue: 'ok', traceId: {} }]) {
    const reply = await post('/api/v1/push', {
      items: [
        { queue: 'ok', payload: 2 },
        { payload: 2, ...wrong },
      ],
    })
    assert.deepEqual([reply.status, reply.json.code], [400, 'bad_request'])
  }
  assert.deepEqual(await sql('select count(*)::int as n from lockstep.message'), [{ n: names.length }])
})

test('a name that cannot be kept is refused before any write, wherever it stands', async (t) => {
  const { post, get, send, sql } = await serve(t)
  for (const name of REFUSED) {
    const part = encodeURIComponent(name)
    const replies = [
      await post('/api/v1/configure', { queue: name }),
      await post('/api/v1/push', { items: [{ queue: name, payload: 1 }] }),
      await post('/api/v1/push', {
        items: [
          { queue: name, payload: 1 },
          { queue: 'q', partition: name, payload: 1 },
        ],
      }),
      await post('/api/v1/transaction', { operations: [{ type: 'push', items: [{ queue: name, payload: 1 }] }] }),
      await get(`/api/v1/pop/queue/${part}`),
      await get(`/api/v1/pop/queue/q/partition/${part}`),
      await get(`/api/v1/pop/queue/q?consumerGroup=${part}`),
      await send('DELETE', `/api/v1/resources/queues/${part}`),
      await send('DELETE', `/api/v1/consumer-groups/${part}`),
      await get(`/api/v1/dlq?queue=${part}`),
    ]
    for (const [index, { status, text }] of replies.entries()) {
      assert.equal(status, 400, `${JSON.stringify(name).slice(0, 20)} in call ${index}: ${text}`)
      assert.match(text, /"code":"(bad_request|name_too_long)"/)
    }
  }
  for (const half of ['\\ud800', '\\udc00x']) {
    const { status } = await post('/api/v1/push', `{"items":[{"queue":"${half}","payload":1}]}`)
    assert.equal(status, 400)
  }
  assert.deepEqual(await sql('select 1 from lockstep.queue'), [])
})

test('a percent sign that encodes nothing is refused in a path and a query', async (t) => {
  const { get } = await serve(t)
  for (const path of ['/api/v1/pop/queue/50%', '/api/v1/pop/queue/%ff', '/api/v1/pop/queue/q?consumerGroup=%zz']) {
    assert.equal((await get(path)).status, 400, path)
  }
})

test('payload bytes come back equal', async (t) => {
  const { post, pop, get } = await serve(t)
  const payloads = [
    '9007199254740993',
    '1e400',
    '-0',
    '1.10',
    '0.1',
    '1E+2',
    '123456789012345678901234567890.123456789',
    '{"b":1,"a":2,"b":3}',
    '{ "spaced" : [ 1 , 2 ] }',
    '"\\u0000"',
    '{"\\u0000":["\\u0000"]}',
    '"\\ud800"',
    '"\\u00e9é\\/"',
    '""',
    'null',
    'true',
    '{"__proto__":{"role":"admin"},"constructor":{"prototype":{"x":1}}}',
    '"<img src=x onerror=alert(1)>"',
    '"😀\u2028\u2029"',
  ]
  const items = payloads.map((payload, i) => `{"queue":"q","transactionId":"t${i}","payload":${payload}}`)
  const pushed = await post('/api/v1/push', `{"items":[${items.join(',')}]}`)
  assert.equal(pushed.status, 201)
  const { text, json } = await pop('q', 'consumerGroup=g')
  for (const payload of payloads) assert.ok(text.includes(`"data":${payload},"producerSub"`), payload)
  assert.equal(json.messages.length, payloads.length)

  const step = payloads.map((payload, i) => `{"queue":"out","transactionId":"t${i}","payload":${payload}}`)
  await post('/api/v1/transaction', `{"operations":[{"type":"push","items":[${step.join(',')}]}]}`)
  const out = await pop('out', 'consumerGroup=g')
  for (const payload of payloads) assert.ok(out.text.includes(`"data":${payload},"producerSub"`), payload)

  const puts = payloads.map((payload, i) => `{"op":"put","ns":"a","key":"k${i}","value":${payload},"forever":true}`)
  await post('/api/v1/kv', `[${puts.join(',')}]`)
  const keys = payloads.map((_, i) => `k${i}`)
  const state = await post('/api/v1/kv', [{ op: 'getMany', ns: 'a', keys }])
  for (const payload of payloads) assert.ok(state.text.includes(`"value":${payload},"version"`), payload)

  const [first] = json.messages
  await post('/api/v1/ack', {
    transactionId: 't0',
    partitionId: first.partitionId,
    leaseId: first.leaseId,
    consumerGroup: 'g',
    status: 'dlq',
  })
  assert.ok((await get('/api/v1/dlq')).text.includes('"data":9007199254740993}'))
  const found = await get(`/api/v1/messages/${first.partitionId}/t1`)
  assert.ok(found.text.includes('"data":1e400,"payload":1e400'))
})

test('a payload that cannot be carried is its own item’s fault; alone it is a 400 that names it', async (t) => {
  const { post, pop } = await serve(t)
  const deep = '['.repeat(513) + ']'.repeat(513)
  const broken = Buffer.concat([
    Buffer.from(
      `{"items":[{"queue":"q","payload":"ok 1"},{"queue":"q","payload":${deep},"transactionId":"deep"},{"queue":"q","payload":"`,
    ),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"},{"queue":"q","payload":"ok é"}]}'),
  ])
  const { status, json } = await post('/api/v1/push', broken)
  assert.equal(status, 201)
  assert.deepEqual(
    json.map((one: Untyped) => [one.index, one.status, one.error]),
    [
      [0, 'queued', undefined],
      [1, 'error', 'items[1].payload must be at most 512 levels deep'],
      [2, 'error', 'items[2].payload must be valid UTF-8'],
      [3, 'queued', undefined],
    ],
  )
  assert.equal(json[1].transaction_id, 'deep')
  const popped = await pop('q')
  assert.deepEqual(
    popped.json.messages.map((message: Untyped) => message.data),
    ['ok 1', 'ok é'],
  )
  const alone = await post('/api/v1/push', `{"items":[{"queue":"q","payload":${deep}}]}`)
  assert.deepEqual([alone.status, alone.json.code], [400, 'bad_request'])
  assert.match(alone.json.error, /items\[0\]\.payload/)
  const step = await post('/api/v1/transaction', `{"operations":[{"type":"push","queue":"q","payload":${deep}}]}`)
  assert.deepEqual([step.status, step.json.reason], [400, 'bad_request'])
  const state = await post('/api/v1/kv', `[{"op":"put","ns":"a","key":"k","value":${deep},"forever":true}]`)
  assert.deepEqual([state.status, state.json.reason], [400, 'kv_bad_value'])
  const bytes = Buffer.concat([
    Buffer.from('{"items":[{"queue":"'),
    Buffer.from([0xff]),
    Buffer.from('","payload":1}]}'),
  ])
  assert.equal((await post('/api/v1/push', bytes)).status, 400)
})

test('a NUL in an id is refused by its path and spoils nobody else’s request', async (t) => {
  const { post } = await serve(t)
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      post('/api/v1/push', { items: [{ queue: 'q', payload: i, transactionId: i % 4 === 0 ? `t\0${i}` : `t${i}` }] }),
    ),
  )
  for (const [i, { status, json }] of replies.entries()) {
    assert.equal(status, i % 4 === 0 ? 400 : 201)
    if (status === 400) assert.equal(json.error, 'bad body: items[0].transactionId must be text without NUL')
  }
})
