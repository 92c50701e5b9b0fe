// Reads by offset: they take nothing, see what is kept, and a reader that goes on from safeTime misses no write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Untyped } from '../../src/client/untyped.ts'
import { push } from '../../src/operations/push.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { openActor } from '../kit/actor.ts'
import { until } from '../kit/quiet.ts'
import { item } from '../kit/speech.ts'
import { serve, serveSpread, type Served } from './served.ts'

const fetching = ({ post }: Pick<Served, 'post'>, entries: readonly object[], over: object = {}) =>
  post('/api/v1/fetch', { entries, ...over })
const changed = async ({ post }: Pick<Served, 'post'>, ...entries: readonly object[]) => {
  const { status, json } = await post('/api/v1/partitions/changed', { entries })
  assert.equal(status, 200, JSON.stringify(json))
  return json
}

test('a fetch reads from an offset as pushed, tells the bounds, and takes nothing from anybody', async (t) => {
  const served = await serveSpread(t)
  const { post, pop } = served
  const big = '9007199254740993'
  const items = [`{"n":${big}}`, 'null', '"\\u0000"'].map(
    (payload) => `{"queue":"q","partition":"7","payload":${payload}}`,
  )
  await post('/api/v1/push', `{"items":[${items.join(',')}]}`)
  await post('/api/v1/push', { items: [{ queue: 'q', payload: 'x', transactionId: 'only' }] })

  const read = await fetching(served, [
    { queue: 'q', partition: 7, offset: 0 },
    { queue: 'q', partition: '7', offset: 2 },
    { queue: 'q', offset: 1 },
    { queue: 'q', offset: 2 },
    { queue: 'q', partition: 'never', offset: 0 },
    { queue: 'nobody', partition: 'x', offset: 0 },
    { queue: 'q', offset: 0 },
  ])
  assert.equal(read.status, 200)
  assert.ok(read.text.includes(`"payload":{"n":${big}}`), read.text)
  const [all, tail, end, past, never, nobody, only] = read.json.entries
  assert.deepEqual([all.partition, all.records.map((one: Untyped) => one.offset)], ['7', [0, 1, 2]])
  assert.deepEqual(all.records[1].payload, null)
  assert.deepEqual([all.highWatermark, all.logStartOffset], [3, 0])
  assert.deepEqual(
    tail.records.map((one: Untyped) => one.payload),
    ['\0'],
  )
  assert.deepEqual([end.records, end.highWatermark, end.error], [[], 1, undefined])
  assert.deepEqual([past.records, past.error], [[], 'OFFSET_OUT_OF_RANGE'])
  assert.deepEqual([never.records, never.highWatermark, never.error], [[], 0, undefined])
  assert.deepEqual([nobody.records, nobody.error], [[], 'UNKNOWN_TOPIC_OR_PARTITION'])
  assert.deepEqual([only.records[0].transactionId, only.partition], ['only', 'Default'])
  assert.match(only.records[0].ts, /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.equal((await pop('q', 'partitions=9')).json.messages.length, 4, 'no lease was taken')

  const { json } = await post('/api/v1/fetch/offsets', {
    entries: [
      { queue: 'q', partition: '7', timestamp: '2020-01-01T00:00:00Z' },
      { queue: 'q', partition: '7', timestamp: '2199-01-01' },
      { queue: 'q', partition: 'never', timestamp: '2020-01-01' },
      { queue: 'nobody', timestamp: '2020-01-01' },
    ],
  })
  assert.deepEqual(
    json.entries.map(({ offset, error }: Untyped) => [offset, error ?? null]),
    [
      [0, null],
      [3, null],
      [0, null],
      [0, 'UNKNOWN_TOPIC_OR_PARTITION'],
    ],
  )
  assert.equal(json.entries[0].timestamp, all.records[0].ts)
})

test('what retention let go is out of range, and the log start tells where to go on', async (t) => {
  const served = await serve(t)
  await served.push('q', [0, 1, 2], 'p')
  await served.sql(`update lockstep.partition set log_start = 2`)
  const { json } = await fetching(served, [
    { queue: 'q', partition: 'p', offset: 1 },
    { queue: 'q', partition: 'p', offset: 2 },
  ])
  assert.deepEqual([json.entries[0].error, json.entries[0].logStartOffset], ['OFFSET_OUT_OF_RANGE', 2])
  assert.deepEqual(
    json.entries[1].records.map((one: Untyped) => one.payload),
    [2],
  )
})

test('bytes and records bound an entry and a call, and a reader that goes on where it ended stands still at nothing', async (t) => {
  const served = await serve(t)
  const { post } = served
  const text = (bytes: number): string => 'x'.repeat(bytes - 2)
  await served.push('q', [text(100), text(100), text(100)], 'a')
  await served.push('q', [text(500)], 'b')
  const ones = (length: number): readonly number[] => Array.from({ length }, () => 1)
  await served.push('q', ones(LIMITS.fetchRecords), 'many')
  await served.push('q', ones(1), 'many')
  const sizes = async (entries: readonly object[], over: object = {}): Promise<readonly number[]> =>
    (await fetching(served, entries, over)).json.entries.map(({ records }: Untyped) => records.length)
  const [a, b] = ['a', 'b'].map((partition) => ({ queue: 'q', partition, offset: 0 }))
  assert.deepEqual(
    await sizes([
      { ...a, maxBytes: 200 },
      { ...b, maxBytes: 1 },
    ]),
    [2, 1],
    'one at least',
  )
  assert.deepEqual(await sizes([{ ...a, maxBytes: 199 }]), [1])
  assert.deepEqual(await sizes([{ ...a }, { ...b }], { maxBytes: 300 }), [3, 0], 'the call is full')
  assert.deepEqual(await sizes([{ ...a }, { ...b }], { maxBytes: 301 }), [3, 1])
  assert.deepEqual(await sizes([{ queue: 'q', partition: 'many', offset: 0 }, { ...b }]), [LIMITS.fetchRecords, 0])
  const megabyte = JSON.stringify(text(1024 * 1024))
  for (let n = 0; n < 9; n++)
    await post('/api/v1/push', `{"items":[{"queue":"q","partition":"c","payload":${megabyte}}]}`)
  assert.deepEqual(
    await sizes([{ queue: 'q', partition: 'c', offset: 0, maxBytes: 2 ** 40 }], { maxBytes: 2 ** 40 }),
    [8],
  )
})

test('a fetch that waits is answered by a push through any broker, at once by a fault, and empty when its time is over', async (t) => {
  const served = await serveSpread(t)
  await served.push('q', [0], 'p')
  const from = (offset: number) => [{ queue: 'q', partition: 'p', offset }]
  const waiting = fetching(served, from(1), { maxWaitMs: 60_000, minBytes: 2 })
  await served.push('q', [1], 'p')
  await served.push('q', [2], 'p')
  assert.deepEqual(
    (await waiting).json.entries[0].records.map((one: Untyped) => one.payload),
    [1, 2],
  )
  assert.equal((await fetching(served, from(9), { maxWaitMs: 60_000 })).json.entries[0].error, 'OFFSET_OUT_OF_RANGE')
  assert.deepEqual((await fetching(served, from(3), { maxWaitMs: 60_000, minBytes: 0 })).json.entries[0].records, [])
  assert.deepEqual((await fetching(served, from(3), { maxWaitMs: 20 })).json.entries[0].records, [])
})

test('a stop ends a fetch that waits', async (t) => {
  const { post, broker } = await serve(t)
  const waiting = fetching({ post }, [{ queue: 'q', partition: 'p', offset: 0 }], { maxWaitMs: 60_000 })
  await post('/api/v1/push', { items: [{ queue: 'q', partition: 'p', payload: 1 }] })
  assert.equal((await waiting).status, 200)
  const parked = fetching({ post }, [{ queue: 'q', partition: 'p', offset: 1 }], { maxWaitMs: 60_000 })
  await post('/api/v1/push', { items: [{ queue: 'other', payload: 1 }] })
  await broker.stop()
  assert.deepEqual((await parked).json?.entries?.[0]?.records ?? [], [])
})

test('changed partitions come page by page in the order of their making; safeTime goes on without a gap', async (t) => {
  const served = await serveSpread(t)
  const queue = 'q'
  for (const name of ['c', 'a', 'b']) await served.push(queue, [1], name)
  const first = await changed(served, { queue, limit: 2 }, { queue: 'nobody' }, { queue, after: 'nonsense' })
  const [page, nobody, bad] = first.entries
  assert.deepEqual(
    page.partitions.map((one: Untyped) => one.name),
    ['c', 'a'],
  )
  assert.deepEqual(nobody, { queue: 'nobody', error: 'UNKNOWN_TOPIC_OR_PARTITION' })
  assert.deepEqual(bad, { queue, error: 'BAD_CURSOR' })
  const [one] = page.partitions
  assert.deepEqual([one.lastOffset, one.logStart, typeof one.id, first.safeTimeDegraded], [0, 0, 'string', false])
  const second = await changed(served, { queue, limit: 2, after: page.next })
  assert.deepEqual(
    [second.entries[0].partitions.map((two: Untyped) => two.name), second.entries[0].next],
    [['b'], null],
  )

  await served.push(queue, [2], 'a')
  const after = await changed(served, { queue, since: second.safeTime })
  assert.deepEqual(
    after.entries[0].partitions.map((two: Untyped) => [two.name, two.lastOffset]),
    [['a', 1]],
  )
  assert.ok(after.entries[0].partitions[0].lastWriteAt >= second.safeTime)
  assert.deepEqual((await changed(served)).entries, [])
})

test('a write on its way holds safeTime back, so that it is not missed when it commits', async (t) => {
  const served = await serve(t, { upkeep: false })
  const { db } = served
  await served.push('q', [1], 'other')
  const writer = await openActor(db, 'writer')
  await writer.sql('begin')
  await push(writer.db, [item('q', 'slow', 'slow')])
  const during = await changed(served, { queue: 'q' })
  assert.deepEqual(
    during.entries[0].partitions.map((one: Untyped) => one.name),
    ['other'],
  )
  await served.push('q', [2], 'other')
  await writer.sql('commit')
  const after = await changed(served, { queue: 'q', since: during.safeTime })
  assert.deepEqual(after.entries[0].partitions.map((one: Untyped) => one.name).toSorted(), ['other', 'slow'])
  const calm = await changed(served, { queue: 'q', since: after.safeTime })
  await until('nothing is on its way', async () => (await changed(served, { queue: 'q' })).safeTime > after.safeTime)
  assert.equal(calm.safeTimeDegraded, false)
})

test('partitions with most waiting come first, against the slowest group of each', async (t) => {
  const served = await serve(t)
  const { get, push: pushes, pop } = served
  await pushes('q', [1, 2, 3], 'three')
  await pushes('q', [1], 'one')
  await pushes('w', [1, 2], 'two')
  const listed = async (query = ''): Promise<readonly (readonly unknown[])[]> => {
    const { json, status } = await get(`/api/v1/resources/partitions${query}`)
    assert.equal(status, 200)
    return json.partitions.map(({ queue, partition, pending, processing }: Untyped) => [
      queue,
      partition,
      pending,
      processing,
    ])
  }
  assert.deepEqual(await listed(), [
    ['q', 'three', 3, 0],
    ['w', 'two', 2, 0],
    ['q', 'one', 1, 0],
  ])
  assert.deepEqual(await listed('?queue=w'), [['w', 'two', 2, 0]])
  assert.deepEqual(await listed('?limit=1'), [['q', 'three', 3, 0]])
  await pop('q', 'consumerGroup=g&batch=3&partitions=1')
  await pop('q', 'consumerGroup=h&batch=9&partitions=9&autoAck=true')
  await pop('w', 'consumerGroup=g&autoAck=true')
  assert.deepEqual(await listed(), [
    ['q', 'one', 1, 0],
    ['q', 'three', 0, 3],
  ])
  const { json } = await get('/api/v1/resources/partitions?queue=q')
  assert.ok(json.partitions.every((one: Untyped) => one.lagSeconds >= 0 && typeof one.id === 'string'))
  assert.deepEqual(await listed('?queue=nobody'), [])
})
