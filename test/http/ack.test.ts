// WIRE sections 5 and 6: every status, fences, per-item verdicts, repeats, and renewing a lease.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestEnd } from '../../src/testing/database.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { serveSpread } from './served.ts'
import type { Reply } from './served.ts'

interface Batch {
  readonly leaseId: string
  readonly partitionId: string
  readonly ids: readonly string[]
  readonly data: readonly unknown[]
}

async function stand(t: TestEnd, payloads: readonly unknown[], options: Record<string, unknown> = {}) {
  const served = await serveSpread(t)
  await served.post('/api/v1/configure', { queue: 'q', options: { retryDelay: 0, ...options } })
  await served.push('q', payloads)
  const take = async (query = ''): Promise<Batch | null> => {
    const { status, json } = await served.pop('q', `consumerGroup=g&${query}`)
    if (status !== 200) return null
    return {
      leaseId: json.leaseId,
      partitionId: json.partitionId,
      ids: json.messages.map((message: Untyped) => message.transactionId),
      data: json.messages.map((message: Untyped) => message.data),
    }
  }
  /** Takes when there is something again: a failure may be held back for a moment. */
  const takeSoon = async (query = ''): Promise<Batch> => {
    let batch: Batch | null = null
    await waitFor('a delivery', async () => (batch = await take(query)) !== null)
    return batch ?? assert.fail('no delivery')
  }
  const ack = (batch: Batch, items: readonly Record<string, unknown>[], more: object = {}): Promise<Reply> =>
    served.post('/api/v1/ack/batch', {
      consumerGroup: 'g',
      acknowledgments: items.map((item) => ({ partitionId: batch.partitionId, leaseId: batch.leaseId, ...item })),
      ...more,
    })
  const dlq = async (): Promise<Untyped[]> => (await served.get('/api/v1/dlq?queue=q')).json.messages
  return { ...served, take, takeSoon, ack, dlq }
}

const taken = (batch: Batch | null): Batch => batch ?? assert.fail('nothing was delivered')

test('an ack answers a bare array with every field', async (t) => {
  const { take, post } = await stand(t, [1])
  const batch = taken(await take())
  const { status, json } = await post('/api/v1/ack', {
    transactionId: batch.ids[0],
    partitionId: batch.partitionId,
    leaseId: batch.leaseId,
    consumerGroup: 'g',
    error: null,
  })
  assert.equal(status, 200)
  assert.deepEqual(json, [
    {
      index: 0,
      transactionId: batch.ids[0],
      success: true,
      error: null,
      leaseReleased: true,
      dlq: false,
      noop: false,
    },
  ])
  assert.equal(await take(), null)
})

test('completing a later message completes the earlier ones; the end of the batch releases the lease', async (t) => {
  const { take, takeSoon, ack } = await stand(t, [1, 2, 3, 4])
  const batch = taken(await take('batch=3'))
  const middle = await ack(batch, [{ transactionId: batch.ids[1] }])
  assert.deepEqual([middle.json[0].success, middle.json[0].leaseReleased, middle.json[0].noop], [true, false, false])
  assert.equal(await take(), null)
  const end = await ack(batch, [{ transactionId: batch.ids[2], status: 'completed' }])
  assert.equal(end.json[0].leaseReleased, true)
  assert.deepEqual((await takeSoon()).data, [4])
})

test('a message may be named by its offset', async (t) => {
  const { take, ack } = await stand(t, [1, 2])
  const batch = taken(await take())
  const { json } = await ack(batch, [{ offset: 1 }])
  assert.deepEqual([json[0].success, json[0].transactionId], [true, null])
  assert.equal(await take(), null)
})

test('failed redelivers from itself and past retryLimit goes to the dead letters with its error', async (t) => {
  const { take, takeSoon, ack, dlq } = await stand(t, ['a', 'b', 'c'], { retryLimit: 1 })
  const first = taken(await take())
  const failed = await ack(first, [{ transactionId: first.ids[1], status: 'failed', error: 'boom 1' }])
  assert.deepEqual([failed.json[0].success, failed.json[0].dlq, failed.json[0].leaseReleased], [true, false, true])
  const second = await takeSoon()
  assert.deepEqual(second.data, ['b', 'c'])
  const dead = await ack(second, [{ transactionId: second.ids[0], status: 'failed', error: 'boom 2' }])
  assert.equal(dead.json[0].dlq, true)
  const [letter] = await dlq()
  assert.match(letter.errorMessage, /boom 2/)
  assert.equal(letter.data, 'b')
  assert.equal(letter.consumerGroup, 'g')
  assert.deepEqual((await takeSoon()).data, ['c'])
})

test('retry redelivers for ever and spends nothing', async (t) => {
  const { takeSoon, ack, dlq } = await stand(t, ['a'], { retryLimit: 0 })
  for (let i = 0; i < 4; i++) {
    const batch = await takeSoon()
    const { json } = await ack(batch, [{ transactionId: batch.ids[0], status: 'retry' }])
    assert.deepEqual([json[0].success, json[0].dlq], [true, false])
  }
  assert.deepEqual(await dlq(), [])
})

test('dlq dead-letters now and the next message follows', async (t) => {
  const { take, takeSoon, ack, dlq } = await stand(t, ['a', 'b'])
  const batch = taken(await take())
  const { json } = await ack(batch, [{ transactionId: batch.ids[0], status: 'dlq', error: 'poison' }])
  assert.deepEqual([json[0].success, json[0].dlq, json[0].leaseReleased], [true, true, true])
  assert.match((await dlq())[0].errorMessage, /poison/)
  assert.deepEqual((await takeSoon()).data, ['b'])
})

test('with both dead-letter switches off an exhausted message is dropped', async (t) => {
  const off = { retryLimit: 0, deadLetterQueue: false, dlqAfterMaxRetries: false }
  const { take, ack, dlq } = await stand(t, ['a'], off)
  const batch = taken(await take())
  await ack(batch, [{ transactionId: batch.ids[0], status: 'failed' }])
  assert.equal(await take(), null)
  assert.deepEqual(await dlq(), [])
})

test('status is read without case; an unknown one is refused by itself and its neighbours are settled', async (t) => {
  const { take, ack } = await stand(t, ['a', 'b'])
  const batch = taken(await take())
  const { status, json } = await ack(batch, [
    { transactionId: batch.ids[1], status: 'COMPLETED' },
    { transactionId: batch.ids[0], status: 'done' },
  ])
  assert.equal(status, 200)
  assert.deepEqual(
    json.map((one: Untyped) => [one.index, one.success, one.error]),
    [
      [0, true, null],
      [1, false, 'unknown status'],
    ],
  )
})

test('a reason that cannot be kept is refused by itself and its neighbours are settled', async (t) => {
  const { take, ack } = await stand(t, ['a', 'b', 'c'])
  const batch = taken(await take())
  const [first, second, third] = batch.ids
  const { status, json } = await ack(batch, [
    { transactionId: first, status: 'completed' },
    { transactionId: second, status: 'failed', error: 'x'.repeat(16_385) },
    { transactionId: second, status: 'failed', error: 'half \ud83d' },
    { transactionId: second, status: 'failed', error: 'nul \0' },
    { transactionId: 'nul \0', status: 'completed' },
    { transactionId: third, status: 'completed', leaseId: 'x'.repeat(513) },
  ])
  assert.equal(status, 200)
  assert.deepEqual(
    json.map((one: Untyped) => [one.transactionId, one.success, one.error]),
    [
      [first, true, null],
      [second, false, 'acknowledgments[1].error must be text of 0 to 16384 bytes'],
      [second, false, 'acknowledgments[2].error must be valid Unicode: it holds half a surrogate pair'],
      [second, false, 'acknowledgments[3].error must be text without NUL'],
      ['nul \0', false, 'acknowledgments[4].transactionId must be text without NUL'],
      [third, false, 'acknowledgments[5].leaseId must be text of 0 to 512 bytes'],
    ],
  )
  for (const wrong of [
    { transactionId: third, error: 5 },
    { transactionId: third, offset: -1 },
    { error: 'unnamed' },
  ]) {
    assert.equal((await ack(batch, [{ transactionId: second }, wrong])).status, 400, JSON.stringify(wrong))
  }
  assert.equal((await ack(batch, [{ transactionId: third }])).json[0].leaseReleased, true)
})

test('nacking a whole batch in one call charges the budget once', async (t) => {
  const { takeSoon, ack, dlq } = await stand(
    t,
    Array.from({ length: 20 }, (_, i) => i),
    { retryLimit: 2 },
  )
  for (let i = 0; i < 2; i++) {
    const batch = await takeSoon()
    assert.equal(batch.ids.length, 20)
    await ack(
      batch,
      batch.ids.map((transactionId) => ({ transactionId, status: 'failed' })),
    )
  }
  assert.equal((await takeSoon()).ids.length, 20)
  assert.deepEqual(await dlq(), [])
})

test('in one call the lowest failed wins over a later completed', async (t) => {
  const { take, takeSoon, ack } = await stand(t, ['a', 'b', 'c'])
  const batch = taken(await take())
  const { json } = await ack(batch, [
    { transactionId: batch.ids[2] },
    { transactionId: batch.ids[1], status: 'failed' },
  ])
  assert.deepEqual(
    json.map((one: Untyped) => one.success),
    [true, true],
  )
  assert.deepEqual((await takeSoon()).data, ['b', 'c'])
})

test('a lease that lapsed or is another one settles nothing', async (t) => {
  const { take, takeSoon, ack } = await stand(t, ['a'])
  const lapsed = taken(await take('leaseSeconds=1'))
  const holder = await takeSoon()
  const late = await ack(lapsed, [{ transactionId: lapsed.ids[0] }])
  assert.deepEqual([late.status, late.json[0].success, late.json[0].error], [200, false, 'invalid or expired lease'])
  const forged = await ack({ ...holder, leaseId: 'no-such-lease' }, [{ transactionId: holder.ids[0] }])
  assert.equal(forged.json[0].success, false)
  assert.equal((await ack(holder, [{ transactionId: holder.ids[0] }])).json[0].success, true)
})

test('without a lease an ack is not fenced and works after expiry', async (t) => {
  const { take, ack } = await stand(t, ['a'])
  const batch = taken(await take('leaseSeconds=1'))
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  const { json } = await ack(batch, [{ transactionId: batch.ids[0], leaseId: null }])
  assert.equal(json[0].success, true)
  assert.equal(await take(), null)
})

test('requireLease refuses acks without one, on a queue or on the whole server', async (t) => {
  const { take, ack } = await stand(t, ['a'], { requireLease: true })
  const batch = taken(await take())
  assert.equal((await ack(batch, [{ transactionId: batch.ids[0], leaseId: null }])).json[0].success, false)
  assert.equal((await ack(batch, [{ transactionId: batch.ids[0] }])).json[0].success, true)

  const strict = await serveSpread(t, { requireLease: true })
  await strict.push('q', [1])
  const { json } = await strict.pop('q', 'consumerGroup=g')
  const { transactionId, partitionId, leaseId } = json.messages[0]
  const bare = await strict.post('/api/v1/ack', { transactionId, partitionId, consumerGroup: 'g' })
  assert.deepEqual([bare.status, bare.json[0].success, bare.json[0].error], [200, false, 'a lease is required'])
  const ackIn = { type: 'ack', transactionId, partitionId, consumerGroup: 'g' }
  const push = { type: 'push', items: [{ queue: 'out', payload: 1 }] }
  const step = await strict.post('/api/v1/transaction', { operations: [push, ackIn] })
  assert.deepEqual([step.status, step.json.reason, step.json.failedIndex], [200, 'rejected_ack', 1])
  assert.match(step.json.error, /rolled back/)
  const fenced = await strict.post('/api/v1/ack', { transactionId, partitionId, leaseId, consumerGroup: 'g' })
  assert.equal(fenced.json[0].success, true)
})

test('below the cursor completed is a no-op and a nack is refused as committed', async (t) => {
  const { take, ack } = await stand(t, ['a', 'b'])
  const batch = taken(await take())
  await ack(batch, [{ transactionId: batch.ids[0] }])
  const { json } = await ack(batch, [
    { transactionId: batch.ids[0] },
    { transactionId: batch.ids[0], status: 'failed', leaseId: null },
  ])
  assert.deepEqual([json[0].success, json[0].noop], [true, true])
  assert.equal(json[1].success, false)
  assert.match(json[1].error, /committed/i)
})

test('an unknown id is unresolvable and the batch stays ackable; a malformed partition id is that item’s fault', async (t) => {
  const { take, ack } = await stand(t, ['a'])
  const batch = taken(await take())
  const { json } = await ack(batch, [
    { transactionId: 'nobody' },
    { transactionId: batch.ids[0], partitionId: 'not-a-number' },
  ])
  assert.match(json[0].error, /unresolv/i)
  assert.match(json[1].error, /partitionId is not a partition id/)
  assert.equal((await ack(batch, [{ transactionId: batch.ids[0] }])).json[0].success, true)
})

test('an ack without the group, or with another one, moves nobody', async (t) => {
  const { take, post, pop } = await stand(t, ['a', 'b', 'c'])
  const batch = taken(await take())
  const item = { transactionId: batch.ids[2], partitionId: batch.partitionId, leaseId: batch.leaseId }
  for (const group of [{}, { consumerGroup: null }, { consumerGroup: 'h' }]) {
    const { json } = await post('/api/v1/ack', { ...item, ...group })
    assert.equal(json[0].success, false)
  }
  assert.equal((await pop('q', 'consumerGroup=h')).json.messages.length, 3)
  assert.equal((await pop('q')).json.messages.length, 3)
  assert.equal((await post('/api/v1/ack', { ...item, consumerGroup: 'g' })).json[0].success, true)
})

test('the same ack sent again is answered as the first time', async (t) => {
  const { take, ack } = await stand(t, ['a'])
  const batch = taken(await take())
  const items = [{ transactionId: batch.ids[0], status: 'failed', error: 'x' }]
  const first = await ack(batch, items)
  assert.equal(first.json[0].success, true)
  assert.deepEqual((await ack(batch, items)).json, first.json)
})

test('with an Idempotency-Key an ack is done once', async (t) => {
  const { takeSoon, post, dlq } = await stand(t, ['a'], { retryLimit: 9 })
  const batch = await takeSoon()
  const body = {
    consumerGroup: 'g',
    requestId: 'ack-1',
    acknowledgments: [{ transactionId: batch.ids[0], partitionId: batch.partitionId, status: 'failed' }],
  }
  const first = await post('/api/v1/ack/batch', body)
  assert.equal((await post('/api/v1/ack/batch', body)).text, first.text)
  const other = await post('/api/v1/ack/batch', { ...body, acknowledgments: [] })
  assert.equal(other.status, 409)
  assert.deepEqual(await dlq(), [])
})

test('wrong shapes are 400', async (t) => {
  const { post } = await serveSpread(t)
  const item = { transactionId: 't', partitionId: '1000000000001' }
  for (const [path, body] of [
    ['/api/v1/ack', '{'],
    ['/api/v1/ack', []],
    ['/api/v1/ack', { partitionId: '1000000000001' }],
    ['/api/v1/ack', { transactionId: 't' }],
    ['/api/v1/ack', { ...item, partitionId: 1000000000001 }],
    ['/api/v1/ack', { ...item, status: 5 }],
    ['/api/v1/ack', { ...item, leaseId: {} }],
    ['/api/v1/ack', { ...item, transactionId: undefined, offset: -1 }],
    ['/api/v1/ack', { ...item, transactionId: undefined, offset: 1.5 }],
    ['/api/v1/ack/batch', {}],
    ['/api/v1/ack/batch', { acknowledgments: {} }],
    ['/api/v1/ack/batch', { acknowledgments: [item, 7] }],
  ] as const) {
    const { status, json } = await post(path, body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(json.error, /^bad body: /)
  }
  const empty = await post('/api/v1/ack/batch', { acknowledgments: [] })
  assert.deepEqual([empty.status, empty.text], [200, '[]'])
})

test('extend moves a live lease and never brings a lapsed one back', async (t) => {
  const { take, post, ack } = await stand(t, ['a'])
  const batch = taken(await take('leaseSeconds=2'))
  const { status, json } = await post(`/api/v1/lease/${batch.leaseId}/extend`, { seconds: 100 })
  assert.equal(status, 200)
  assert.equal(json.success, true)
  assert.equal(json.renewed, 1)
  assert.equal(json.leaseId, batch.leaseId)
  assert.match(json.newExpiresAt, /Z$/)
  assert.equal(json.expiresAt, json.newExpiresAt)
  assert.equal(json.lease_expires_at, json.newExpiresAt)
  const shorter = await post(`/api/v1/lease/${batch.leaseId}/extend`, {})
  assert.equal(shorter.json.newExpiresAt, json.newExpiresAt)
  for (const seconds of [0, -1, 0.5, 1.5, 604_801, 1e300, '60', true, {}]) {
    const refused = await post(`/api/v1/lease/${batch.leaseId}/extend`, { seconds })
    assert.equal(refused.status, 400, JSON.stringify(seconds))
    assert.match(refused.json.error, /^seconds must be an integer from 1 to 604800/)
  }
  for (const body of ['', '[]', '{"seconds":null}', 'nonsense']) {
    const odd = await post(`/api/v1/lease/${batch.leaseId}/extend`, body)
    assert.deepEqual([odd.status, odd.json.renewed], [200, 1], body)
  }
  await ack(batch, [{ transactionId: batch.ids[0] }])
  const gone = await post(`/api/v1/lease/${batch.leaseId}/extend`, { seconds: 10 })
  assert.deepEqual(gone.json, {
    leaseId: batch.leaseId,
    success: false,
    renewed: 0,
    newExpiresAt: null,
    expiresAt: null,
    lease_expires_at: null,
  })
  assert.equal((await post('/api/v1/lease/unknown/extend', {})).json.success, false)
})
