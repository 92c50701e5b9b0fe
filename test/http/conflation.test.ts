// Conflation and held pops on the wire: what is refused, what an answer says even when it is empty, and what an ack counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from './served.ts'

test('a pop that asks for conflation gets the newest of each partition, and the answer says so even when it is empty', async (t) => {
  const { push, pop, post, get } = await serve(t)
  await push('prices', [1, 2, 3], 'eur')
  await push('prices', [7], 'usd')
  const { status, json } = await pop('prices', 'consumerGroup=screen&conflation=true')
  assert.deepEqual(
    [status, json.conflation, json.conflationConflict, json.partitionsClaimed],
    [200, true, undefined, 2],
  )
  const [eur, usd] = json.messages.toSorted((a: { data: number }, b: { data: number }) => a.data - b.data)
  assert.deepEqual([eur.data, usd.data], [3, 7])
  const acknowledgments = [eur, usd].map(({ transactionId, partitionId, leaseId }) => ({
    transactionId,
    partitionId,
    leaseId,
  }))
  const acked = await post('/api/v1/ack/batch', { consumerGroup: 'screen', acknowledgments })
  assert.deepEqual(
    acked.json.map((one: { conflated: number }) => one.conflated),
    [2, 0],
  )
  const empty = await pop('prices', 'consumerGroup=screen&conflation=true')
  assert.deepEqual([empty.status, empty.json.messages, empty.json.conflation], [200, [], true])
  await push('prices', [4, 5], 'eur')
  const { json: depth } = await get('/api/v1/resources/queues/prices/depth?group=screen')
  assert.deepEqual([depth.pending, depth.effectivePending, depth.conflation], [2, 1, true])
  const { json: groups } = await get('/api/v1/consumer-groups')
  assert.equal(groups[0].conflation, true)
  const { json: one } = await get('/api/v1/consumer-groups/screen')
  assert.equal(one.prices.conflation, true)
})

test('a pop that disagrees with its group is told, with and without messages', async (t) => {
  const { push, pop } = await serve(t)
  await push('q', [1, 2])
  assert.equal((await pop('q', 'consumerGroup=plain')).json.messages.length, 2)
  const asked = await pop('q', 'consumerGroup=plain&conflation=true')
  assert.deepEqual([asked.status, asked.json.conflation, asked.json.conflationConflict], [200, undefined, true])
  assert.equal((await pop('q', 'consumerGroup=newest&conflation=true')).json.messages.length, 1)
  const unasked = await pop('q', 'consumerGroup=newest&wait=false')
  assert.deepEqual([unasked.status, unasked.json.conflation, unasked.json.conflationConflict], [200, true, true])
  assert.equal((await pop('q', 'consumerGroup=plain')).status, 204)
})

test('conflation without a group or with commit on delivery is refused', async (t) => {
  const { pop, get } = await serve(t)
  for (const [query, named] of [
    ['conflation=true', 'consumerGroup'],
    ['conflation=true&consumerGroup=__QUEUE_MODE__', 'consumerGroup'],
    ['conflation=true&consumerGroup=g&autoAck=true', 'autoAck'],
    ['conflation=true&consumerGroup=g&commitOnDelivery=true', 'commitOnDelivery'],
  ] as const) {
    const { status, json } = await pop('q', query)
    assert.deepEqual([status, json.code], [400, 'bad_request'], query)
    assert.match(json.error, new RegExp(named))
  }
  assert.deepEqual((await get('/api/v1/consumer-groups')).json, [])
})

test('a discovery pop may ask for it too', async (t) => {
  const { push, get } = await serve(t)
  await push('shop.prices', [1, 2], 'a')
  await push('shop.stock', [3, 4], 'b')
  const { json } = await get('/api/v1/pop?namespace=shop&consumerGroup=g&conflation=true&subscriptionMode=all')
  assert.deepEqual(json.messages.map((one: { data: number }) => one.data).toSorted(), [2, 4])
  assert.deepEqual([json.conflation, json.conflationConflict], [true, undefined])
})

test('a pop is held for more until minPopWaitTime is over or its batch is full, also one that does not wait', async (t) => {
  const { post, push, pop } = await serve(t)
  await post('/api/v1/configure', { queue: 'q', options: { minPopWaitTime: 60_000 } })
  await push('q', [1])
  const popping = pop('q', 'consumerGroup=g&batch=3&wait=false')
  let over = false
  void popping.then(() => (over = true))
  await push('q', [2])
  await new Promise((resolve) => setTimeout(resolve, 30))
  assert.equal(over, false)
  await push('q', [3])
  assert.deepEqual(
    (await popping).json.messages.map((one: { data: number }) => one.data),
    [1, 2, 3],
  )
  await post('/api/v1/configure', { queue: 'q', options: { minPopWaitTime: 50 } })
  await push('q', [4], 'other')
  assert.deepEqual(
    (await pop('q', 'consumerGroup=g&batch=3')).json.messages.map((one: { data: number }) => one.data),
    [4],
  )
})
