// WIRE section 14: the routes of ephemeral queues, their answers and refusals.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { exchange, serve } from './served.ts'

const AT = '/api/v1/ephemeral'

test('push, pop, ack and the gauges speak as the wire says', async (t) => {
  const { post, get, send } = await serve(t)
  const pushed = await post(`${AT}/push`, { queue: 'inbox', messages: [{ payload: { n: 1 } }, { payload: null }] })
  assert.deepEqual([pushed.status, pushed.json], [201, { pushed: 2 }])
  const popped = await get(`${AT}/pop?queue=inbox&group=w&batch=10`)
  assert.equal(popped.status, 200)
  assert.equal(popped.json.queue, 'inbox')
  assert.deepEqual(
    popped.json.messages.map(({ partition, payload, attempts }: Untyped) => [partition, payload, attempts]),
    [
      ['Default', { n: 1 }, 1],
      ['Default', null, 1],
    ],
  )
  const empty = await get(`${AT}/pop?queue=inbox&group=w`)
  assert.deepEqual([empty.status, empty.json], [200, { queue: 'inbox', messages: [] }])
  const [one, two] = popped.json.messages
  const acked = await post(`${AT}/ack`, {
    queue: 'inbox',
    group: 'w',
    acks: [{ id: one.id }, { id: two.id, status: 'retry', error: 'later' }, { id: 'x' }],
  })
  assert.deepEqual(acked.json, {
    results: [
      { id: one.id, outcome: 'acked' },
      { id: two.id, outcome: 'redelivered' },
      { id: 'x', outcome: 'unknown' },
    ],
  })
  const again = await get(`${AT}/pop?queue=inbox&group=w&autoAck=true`)
  assert.deepEqual([again.json.messages[0].payload, again.json.messages[0].attempts], [null, 2])
  const { json: listed } = await get(`${AT}/queues`)
  assert.deepEqual(
    listed.queues.map(({ queue, messages, declared }: Untyped) => [queue, messages, declared]),
    [['inbox', 0, false]],
  )
  const unknown = await get(`${AT}/queues/none/depth`)
  assert.deepEqual([unknown.status, unknown.json.code], [404, 'ephemeral_queue_not_found'])
  assert.deepEqual((await post(`${AT}/reset`, { queue: 'none' })).json, { queue: 'none', dropped: 0 })
  assert.deepEqual((await send('DELETE', `${AT}/queue/inbox`)).json, { queue: 'inbox', deleted: true, declared: false })
  assert.deepEqual((await send('DELETE', `${AT}/queue/inbox`)).json, {
    queue: 'inbox',
    deleted: false,
    declared: false,
  })
})

test('what is configured outlives the broker, what was pushed does not', async (t) => {
  const { post, db, url } = await serve(t)
  const options = { maxLength: 2, policy: 'dropOldest', leaseSeconds: 5 }
  const configured = await post(`${AT}/configure`, { queue: 'feed', options })
  assert.equal(configured.status, 201)
  assert.deepEqual(configured.json.options, {
    maxBytes: 16_777_216,
    maxLength: 2,
    policy: 'dropOldest',
    ttlSeconds: 0,
    leaseSeconds: 5,
    retryLimit: 3,
    windowBuffer: null,
  })
  for (const payload of [1, 2, 3]) await post(`${AT}/push`, { queue: 'feed', messages: [{ payload }] })
  const other = createBroker({ connectionString: db.connectionString, port: 0, connections: 3, upkeep: false })
  await other.start()
  t.after(() => other.stop())
  const { json } = await exchange(other.address, 'GET', `${AT}/queues/feed/depth`)
  assert.deepEqual([json.declared, json.messages, json.options.maxLength], [true, 0, 2])
  const here = await exchange(url, 'GET', `${AT}/pop?queue=feed&batch=9`)
  assert.deepEqual(
    here.json.messages.map((message: Untyped) => message.payload),
    [2, 3],
  )
  const elsewhere = await exchange(other.address, 'POST', `${AT}/ack`, {
    queue: 'feed',
    acks: [{ id: here.json.messages[0].id }],
  })
  assert.deepEqual(elsewhere.json.results[0].outcome, 'stale', 'an id of another broker acks nothing here')
})

test('a long poll is answered by a push, and a stop answers it empty', async (t) => {
  const { get, post, broker, url } = await serve(t)
  const parked = async (): Promise<boolean> =>
    /\nlockstep_ephemeral_waiting_pops 1\n/.test((await exchange(url, 'GET', '/metrics/prometheus')).text)
  const waiting = get(`${AT}/pop?queue=q&wait=true&timeout=30000`)
  await waitFor('a parked pop', parked)
  await post(`${AT}/push`, { queue: 'q', messages: [{ payload: 'hello' }] })
  assert.deepEqual((await waiting).json.messages[0].payload, 'hello')
  const last = get(`${AT}/pop?queue=other&wait=true&timeout=30000`)
  await waitFor('a parked pop', parked)
  await broker.stop()
  assert.deepEqual((await last).json, { queue: 'other', messages: [] })
})

test('every fault has the code of the family and names its field', async (t) => {
  const { get, post } = await serve(t)
  const refused: readonly (readonly [string, object, RegExp])[] = [
    [
      'configure',
      { queue: 'q', options: { ttlSecond: 1 } },
      /options\.ttlSecond must be absent: the options are maxBytes/,
    ],
    ['configure', { queue: 'q', options: { policy: 'drop' } }, /options\.policy must be one of reject, dropOldest/],
    [
      'configure',
      { queue: 'q', options: { windowBuffer: { ms: 5 } } },
      /options\.windowBuffer\.count must be an integer/,
    ],
    ['configure', { queue: 'q', options: { maxBytes: 0 } }, /options\.maxBytes must be an integer from 1 to/],
    ['push', { messages: [] }, /queue must be text of 1 to 512 bytes/],
    ['push', { queue: 'q' }, /messages must be an array/],
    ['push', { queue: '..', messages: [] }, /queue must be another name than/],
    ['push', { queue: 'q', partition: 'x'.repeat(513), messages: [] }, /partition must be text of 1 to 512 bytes/],
    ['push', { queue: 'q', messages: [{}] }, /messages\[0\]\.payload must be present/],
    [
      'ack',
      { queue: 'q', acks: [{ id: 'a', status: 'dlq' }] },
      /acks\[0\]\.status must be one of completed, failed, retry/,
    ],
    ['reset', {}, /queue must be text/],
  ]
  for (const [verb, body, message] of refused) {
    const { status, json } = await post(`${AT}/${verb}`, body)
    assert.deepEqual([status, json.code], [400, 'ephemeral_bad_request'], JSON.stringify(body))
    assert.match(json.error, message)
  }
  const { status, json } = await get(`${AT}/pop?queue=q&batch=none`)
  assert.deepEqual([status, json.code], [400, 'ephemeral_bad_request'])
  await post(`${AT}/configure`, { queue: 'small', options: { maxLength: 1 } })
  const full = await post(`${AT}/push`, { queue: 'small', messages: [{ payload: 1 }, { payload: 2 }] })
  assert.deepEqual([full.status, full.json.code], [429, 'queue_full'])
  assert.ok(Number(full.headers['retry-after']) >= 1)
})
