// WIRE section 10: timers are scheduled, replaced, read and cancelled by queue and key, and fire once. What is not theirs to say
// is refused before anything is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Untyped } from '../../src/client/untyped.ts'
import type { TestEnd } from '../../src/testing/database.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { moveClock } from '../kit/clock.ts'
import { serveSpread } from './served.ts'

const DAY_MS = 86_400_000
const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function stand(t: TestEnd, upkeep = false) {
  const served = await serveSpread(t, { upkeep })
  const timers = async (...operations: unknown[]): Promise<Untyped[]> => {
    const { status, json, text } = await served.post('/api/v1/timers', { operations })
    assert.equal(status, 200, text)
    return json.results
  }
  const schedule = (timerKey: string, more: object = {}) => ({
    op: 'schedule',
    queue: 'q',
    timerKey,
    delayMs: DAY_MS,
    data: { of: timerKey },
    ...more,
  })
  const cancel = (timerKey: string, more: object = {}) => ({ op: 'cancel', queue: 'q', timerKey, ...more })
  const path = (key: string, queue = 'q'): string =>
    `/api/v1/timers/${encodeURIComponent(queue)}/${encodeURIComponent(key)}`
  return { ...served, timers, schedule, cancel, path }
}

test('a timer is scheduled, read, replaced and cancelled under its queue and key', async (t) => {
  const { timers, schedule, cancel, path, get, send, post } = await stand(t)
  const payload = '{"big": 9007199254740993, "a":1.10}'
  const [first] = await timers(schedule('k', { data: undefined, payload: base64(payload), txn: 't-1', partition: 'p' }))
  assert.deepEqual(
    [first.index, first.op, first.ok, first.status, first.queue, first.timerKey, first.txn],
    [0, 'schedule', true, 'scheduled', 'q', 'k', 't-1'],
  )
  assert.match(first.messageId, /^[0-9a-f]{8}-[0-9a-f]{4}-7/)
  const read = (await get(path('k'))).json
  assert.deepEqual([read.found, read.queue, read.timerKey, read.partition, read.txn], [true, 'q', 'k', 'p', 't-1'])
  assert.deepEqual([read.messageId, read.deliverAt], [first.messageId, first.deliverAt])
  assert.equal(Buffer.from(read.payload, 'base64').toString(), payload)
  assert.deepEqual(
    [read.payloadZstd, read.encrypted, read.producerSub, read.attempts, read.lastError, read.claimed],
    [false, false, null, 0, null, false],
  )
  assert.ok(Date.parse(read.deliverAt) - Date.parse(read.createdAt) === DAY_MS, 'due exactly so much later')

  const [again] = await timers({ ...schedule('k', { delayMs: 2 * DAY_MS, txn: 't-2' }), op: 'reschedule' })
  assert.deepEqual([again.status, again.txn, again.messageId === first.messageId], ['rescheduled', 't-2', false])
  const moved = (await get(path('k'))).json
  assert.deepEqual([moved.txn, moved.partition, moved.createdAt], ['t-2', 'Default', read.createdAt])
  assert.equal(Buffer.from(moved.payload, 'base64').toString(), '{"of":"k"}')

  const gone = (await send('DELETE', `${path('k')}?txn=mine`)).json
  assert.deepEqual(gone, { ok: true, status: 'cancelled', queue: 'q', timerKey: 'k', txn: 't-2' })
  const absent = (await send('DELETE', `${path('k')}?txn=mine`)).json
  assert.deepEqual(absent, { ok: false, status: 'absent', queue: 'q', timerKey: 'k', txn: 'mine' })
  assert.deepEqual((await get(path('k'))).json, { found: false })

  const mixed = await timers(
    cancel('a'),
    schedule('a'),
    schedule('a'),
    cancel('a'),
    schedule('b'),
    cancel('c', { txn: 'x' }),
  )
  assert.deepEqual(
    mixed.map(({ index, status, txn }) => [index, status, status === 'absent' ? txn : 'any']),
    [
      [0, 'absent', null],
      [1, 'scheduled', 'any'],
      [2, 'rescheduled', 'any'],
      [3, 'cancelled', 'any'],
      [4, 'scheduled', 'any'],
      [5, 'absent', 'x'],
    ],
  )
  const body = { operations: [schedule('once')], requestId: 'r-1' }
  const one = await post('/api/v1/timers', body)
  assert.equal((await post('/api/v1/timers', body)).text, one.text, 'a repeat answers what the first one did')
  assert.equal((await post('/api/v1/timers', { ...body, operations: [schedule('twice')] })).status, 409)
})

test('keys with slashes, dots, Unicode and 512 bytes are named by the path, and a page goes by their bytes', async (t) => {
  const { timers, schedule, path, get, send } = await stand(t)
  const keys = [
    'a/b',
    '/',
    'a//b/',
    '%2F',
    '%2e%2e',
    'é',
    'e\u0301',
    '😀',
    ' ',
    'a b+c?d#e',
    '__proto__',
    'x'.repeat(512),
  ]
  for (const queue of ['q', 'q/1', 'ü']) {
    await timers(...keys.map((key) => schedule(key, { queue })))
    const seen: string[] = []
    for (let after: string | null = ''; after !== null;) {
      const { json }: Untyped = await get(
        `/api/v1/timers/${encodeURIComponent(queue)}?limit=5&after=${encodeURIComponent(after)}`,
      )
      assert.ok(json.rows.every((row: Untyped) => row.queue === queue && !('payload' in row)))
      seen.push(...json.rows.map((row: Untyped) => row.timerKey))
      assert.equal(json.truncated, json.nextAfter !== null)
      after = json.nextAfter
    }
    assert.deepEqual(
      seen,
      keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    for (const key of keys) {
      assert.equal((await get(path(key, queue))).json.timerKey, key)
      const { json } = await send('DELETE', path(key, queue))
      assert.deepEqual([json.status, json.timerKey, json.queue], ['cancelled', key, queue])
    }
  }
  await timers(schedule('a/b'))
  assert.equal((await get('/api/v1/timers/q/a/b')).json.timerKey, 'a/b', 'a slash may also travel as it is')
})

test('every bound holds on both sides, and a refused call schedules nothing', async (t) => {
  const { timers, schedule, cancel, post, get, send } = await stand(t)
  const text = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`
  const fine = [
    schedule('k'.repeat(512)),
    schedule('horizon', { delayMs: 90 * DAY_MS }),
    schedule('past', { delayMs: -5, txn: 't'.repeat(65_535), partition: 'p'.repeat(512), queue: 'q'.repeat(512) }),
    schedule('large', { data: undefined, payload: base64(text(1_048_576)) }),
    schedule('null', { data: null }),
  ]
  assert.ok((await timers(...fine)).every((result) => result.ok))
  assert.equal((await timers(...Array.from({ length: 256 }, (_, n) => cancel(`c${n}`)))).length, 256)
  const cases: readonly [number, string, unknown][] = [
    [400, 'timers_bad_body', '{"operations":'],
    [400, 'timers_bad_body', '3'],
    [400, 'timers_bad_body', {}],
    [400, 'timers_bad_op', { operations: [null] }],
    [400, 'timers_unknown_op', { operations: [schedule('a', { op: 'fire' })] }],
    [400, 'timers_too_many_ops', { operations: Array.from({ length: 257 }, (_, n) => cancel(`c${n}`)) }],
    [400, 'timers_bad_queue', { operations: [schedule('a', { queue: '' })] }],
    [400, 'timers_bad_queue', { operations: [schedule('a', { queue: 'q'.repeat(513) })] }],
    [400, 'timers_bad_partition', { operations: [schedule('a', { partition: '' })] }],
    [400, 'timers_bad_key', { operations: [schedule('')] }],
    [400, 'timers_bad_key', { operations: [schedule('k'.repeat(513))] }],
    [400, 'timers_bad_key', { operations: [schedule('..')] }],
    [400, 'timers_bad_key', { operations: [schedule('a\0')] }],
    [400, 'timers_bad_txn', { operations: [schedule('a', { txn: 't'.repeat(65_536) })] }],
    [400, 'timers_bad_delay', { operations: [schedule('a', { delayMs: 1.5 })] }],
    [400, 'timers_bad_delay', { operations: [schedule('a', { delayMs: '5' })] }],
    [400, 'timers_bad_delay', { operations: [schedule('a', { delayMs: null })] }],
    [400, 'timers_bad_delay', { operations: [schedule('a', { delayMs: 1e300 })] }],
    [403, 'timers_horizon', { operations: [schedule('a', { delayMs: 90 * DAY_MS + 1 })] }],
    [403, 'timers_horizon', { operations: [schedule('a', { delayMs: 400 * DAY_MS })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { data: undefined })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { payload: base64('1') })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { data: undefined, payload: 'e30' })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { data: undefined, payload: base64('{"a":') })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { data: undefined, payload: base64('1 2') })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { data: undefined, payload: '//79' })] }],
    [400, 'timers_bad_payload', { operations: [schedule('a', { payloadZstd: true })] }],
    [413, 'timers_payload_too_large', { operations: [schedule('a', { data: 'x'.repeat(1_048_575) })] }],
    [
      413,
      'timers_payload_too_large',
      { operations: [schedule('a', { data: undefined, payload: base64(text(1_048_577)) })] },
    ],
    ...['producerSub', 'messageId', 'tenant', 'deliverAt', 'attempts', '_x'].map((name): [number, string, unknown] => [
      400,
      'timers_server_field',
      { operations: [schedule('a', { [name]: null })] },
    ]),
  ]
  for (const [status, reason, body] of cases) {
    const refused = await post('/api/v1/timers', typeof body === 'string' ? body : { ...Object(body), more: 1 })
    const shown = refused.text.slice(0, 300)
    assert.deepEqual([refused.status, refused.json.reason], [status, reason], shown)
    const error = { 403: 'timer_horizon_exceeded', 413: 'payload_too_large' }[status] ?? 'timers_bad_request'
    assert.equal(refused.json.error, error, shown)
    assert.equal(typeof refused.json.detail, 'string')
  }
  assert.deepEqual(
    (await get('/api/v1/timers/q?limit=1000')).json.rows.map((row: Untyped) => row.timerKey),
    ['horizon', 'k'.repeat(512), 'large', 'null'],
  )
  for (const bad of ['limit=0', 'limit=1001', `after=${'k'.repeat(513)}`]) {
    assert.equal((await get(`/api/v1/timers/q?${bad}`)).status, 400, bad)
  }
  assert.equal((await send('DELETE', `/api/v1/timers/q/${'k'.repeat(513)}`)).status, 400)
})

test('a fired timer is a message with the ids that were promised, once, not before its time and also as a repeat', async (t) => {
  const { timers, schedule, path, get, pop, push, db } = await stand(t, true)
  await push('q', ['before'])
  const taken = (await pop('q', 'consumerGroup=g&autoAck=true')).json.messages[0]
  const [due, later] = await timers(
    schedule('now', { delayMs: -1, txn: taken.transactionId }),
    schedule('later', { delayMs: 3_600_000, txn: 'later' }),
  )
  const messages: Untyped[] = []
  const popped = async (): Promise<boolean> => {
    const reply = await pop('q', 'consumerGroup=g&autoAck=true&wait=true&timeout=200')
    if (reply.status === 200) messages.push(...reply.json.messages)
    return reply.status === 200
  }
  await waitFor('the timer that is due', popped)
  assert.deepEqual(
    messages.map((message) => [message.transactionId, message.id, message.data]),
    [[taken.transactionId, due.messageId, { of: 'now' }]],
    'the id is known already, and the timer is delivered all the same',
  )
  assert.equal((await get(path('now'))).json.found, false)
  assert.equal((await get(path('later'))).json.found, true)
  await moveClock(db, 3_599)
  assert.equal(await popped(), false, 'not before its time')
  await moveClock(db, 2)
  await waitFor('the later timer', popped)
  assert.equal(messages[1].id, later.messageId)
  assert.ok(messages[1].createdAt >= later.deliverAt)
  assert.equal(await popped(), false)
})

test('a parked pop is woken by the timer that it waits for', async (t) => {
  const { timers, schedule, pop } = await stand(t, true)
  const waiting = pop('q', 'consumerGroup=g&autoAck=true&wait=true&timeout=30000')
  await timers(schedule('soon', { delayMs: 300, data: 'here' }))
  const { status, json } = await waiting
  assert.deepEqual([status, json.messages[0].data], [200, 'here'])
})

test('in a transaction timers come after all else, with their flat index, and fall with it', async (t) => {
  const { schedule, cancel, post, get, path, push, pop } = await stand(t)
  const commit = async (body: object): Promise<Untyped> => (await post('/api/v1/transaction', body)).json
  const put = (expect: number) => ({ op: 'put', ns: 'a', key: 'k', value: 1, forever: true, expect, required: true })
  const first = await commit({
    operations: [{ type: 'push', items: [{ queue: 'out', payload: 1 }] }],
    kv: [put(0)],
    timers: [schedule('a', { txn: 'ta' }), cancel('b', { txn: 'tb' }), schedule('a', { txn: 'tc' })],
    requestId: 'r',
  })
  assert.equal(first.success, true)
  assert.deepEqual(
    first.results.map(({ index, type, opIndex, status, ok }: Untyped) => [index, type, opIndex, status, ok]),
    [
      [0, 'push', undefined, undefined, undefined],
      [1, 'kv', 0, undefined, undefined],
      [2, 'timer', 0, 'scheduled', true],
      [3, 'timer', 1, 'absent', false],
      [4, 'timer', 2, 'rescheduled', true],
    ],
  )
  assert.deepEqual([first.results[4].txn, first.results[4].timerKey, first.results[3].txn], ['tc', 'a', 'tb'])
  assert.equal((await get(path('a'))).json.messageId, first.results[4].messageId)
  // Lost by kv, by an ack and by a push: neither a new timer nor a cancel stays, and no row is left behind.
  const timers = [schedule('new'), cancel('a'), schedule('a', { txn: 'other' })]
  await push('in', [1])
  const { partitionId } = (await pop('in', 'consumerGroup=g')).json.messages[0]
  const losers: readonly [string, object][] = [
    ['kv_precondition', { operations: [], kv: [put(0)], timers }],
    ['rejected_ack', { operations: [{ type: 'ack', transactionId: 'nobody', partitionId, leaseId: 'x' }], timers }],
  ]
  for (const [reason, body] of losers) {
    const lost = await commit(body)
    assert.deepEqual([lost.success, lost.reason], [false, reason])
    assert.equal((await get(path('a'))).json.txn, 'tc')
    assert.deepEqual((await get('/api/v1/timers/q')).json.rows.length, 1)
  }
  assert.deepEqual((await commit({ timers: [cancel('a')] })).results[0].status, 'cancelled')
  const horizon = await post('/api/v1/transaction', { timers: [schedule('a', { delayMs: 91 * DAY_MS })] })
  assert.deepEqual([horizon.status, horizon.json.reason, horizon.json.success], [403, 'timers_horizon', false])
  const runs = await commit({ timers: [schedule('with-run')], runs: [] })
  assert.equal(runs.results[0].status, 'scheduled')
})
