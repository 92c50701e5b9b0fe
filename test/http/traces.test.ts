// WIRE section 11, traces: noted without looking for the message, read by message and by name, forgotten after a week.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jobNamed } from '../kit/job-named.ts'
import { serve } from './served.ts'

const AT = '/api/v1/traces'

test('a trace is found by its message and by each of its names, with the message while that is kept', async (t) => {
  const { post, get, push, pop } = await serve(t)
  const [transactionId] = await push('orders', [{ n: 1 }], 'acme')
  const { partitionId } = (await pop('orders', 'consumerGroup=g')).json.messages[0]
  const noted = await post(AT, {
    transactionId,
    partitionId,
    data: { text: 'paid', big: 1 },
    traceNames: ['tenant-1', 'order/7', 'order/7'],
    consumerGroup: 'g',
    eventType: 'step',
  })
  assert.deepEqual([noted.status, noted.json.success], [201, true])
  const bare = await post(AT, { transactionId, partitionId, data: 'second', traceNames: null })
  assert.equal(bare.status, 201)

  const mine = (await get(`${AT}/${partitionId}/${transactionId}`)).json.traces
  assert.deepEqual(
    mine.map((each: Untyped) => [each.event_type, each.data, each.consumer_group, each.trace_names]),
    [
      ['info', 'second', null, []],
      ['step', { text: 'paid', big: 1 }, 'g', ['tenant-1', 'order/7']],
    ],
  )
  assert.match(mine[0].created_at, /Z$/)
  const named = (await get(`${AT}/by-name/${encodeURIComponent('order/7')}`)).json
  assert.deepEqual([named.total, named.pagination], [1, { limit: 100, offset: 0 }])
  const [found] = named.traces
  assert.deepEqual(
    [found.id, found.transaction_id, found.partition_id, found.queue_name, found.partition_name, found.message_payload],
    [noted.json.traceId, transactionId, partitionId, 'orders', 'acme', { n: 1 }],
  )
  const { trace_names: names, total } = (await get(`${AT}/names`)).json
  assert.deepEqual(
    [total, names.map((each: Untyped) => [each.trace_name, each.trace_count, each.message_count])],
    [
      2,
      [
        ['order/7', 1, 1],
        ['tenant-1', 1, 1],
      ],
    ],
  )
  assert.deepEqual((await get(`${AT}/by-name/none`)).json, {
    traces: [],
    total: 0,
    pagination: { limit: 100, offset: 0 },
  })
})

test('the message need not exist, and the bytes of the data come back', async (t) => {
  const { send, get } = await serve(t)
  const body =
    '{"transactionId":"t","partitionId":"anything at all","data":{"n":123456789012345678901,"e":"\\u0000"},"traceNames":"one"}'
  assert.equal((await send('POST', AT, body)).status, 201)
  const { text } = await get(`${AT}/${encodeURIComponent('anything at all')}/t`)
  assert.ok(text.includes('{"n":123456789012345678901,"e":"\\u0000"}'), text)
  const { json } = await get(`${AT}/by-name/one`)
  assert.deepEqual([json.traces[0].queue_name, json.traces[0].message_payload], [null, null])
})

test('pages follow each other, and faults name their field', async (t) => {
  const { post, get } = await serve(t)
  for (let n = 0; n < 5; n++) await post(AT, { transactionId: `t${n}`, partitionId: 'p', data: n, traceNames: 'all' })
  const page = async (offset: number): Promise<Untyped> =>
    (await get(`${AT}/by-name/all?limit=2&offset=${offset}`)).json.traces.map((each: Untyped) => each.data)
  assert.deepEqual([await page(0), await page(2), await page(4)], [[4, 3], [2, 1], [0]])
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ partitionId: 'p', data: 1 }, /transactionId must be text/],
    [{ transactionId: 't', data: 1 }, /partitionId must be text/],
    [{ transactionId: 't', partitionId: 'p' }, /data must be present/],
    [{ transactionId: 't', partitionId: 'p', data: 1, traceNames: [1] }, /traceNames must be text of 1 to 512 bytes/],
  ]
  for (const [body, message] of cases) {
    const { status, json } = await post(AT, body)
    assert.equal(status, 400)
    assert.match(json.error, message)
  }
})

test('traces older than a week are forgotten with their names, the others stay', async (t) => {
  const { post, get, sql, db } = await serve(t)
  for (const name of ['old', 'new'])
    await post(AT, { transactionId: name, partitionId: 'p', data: 1, traceNames: ['both', name] })
  await sql(`update lockstep.trace set created_at = created_at - interval '8 days' where transaction_id = 'old'`)
  assert.equal((await jobNamed('remove_traces').step(db.database)).done, 1)
  assert.equal((await jobNamed('remove_traces').step(db.database)).done, 0)
  assert.deepEqual(
    (await get(`${AT}/names`)).json.trace_names.map((each: Untyped) => [each.trace_name, each.trace_count]).toSorted(),
    [
      ['both', 1],
      ['new', 1],
    ],
  )
})
