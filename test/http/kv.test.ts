// WIRE section 8: every operation, its verdicts and refusals, over the route and its path forms.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../src/protocol/limits.ts'
import type { TestEnd } from '../../src/testing/database.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { serve } from './served.ts'

async function stand(t: TestEnd) {
  const served = await serve(t)
  const kv = async (...operations: unknown[]): Promise<Untyped[]> => {
    const { status, json, text } = await served.post('/api/v1/kv', { operations })
    assert.equal(status, 200, text)
    return json.results ?? [json]
  }
  const put = (key: string, value: unknown, more: object = {}) => ({
    op: 'put',
    ns: 'a',
    key,
    value,
    forever: true,
    ...more,
  })
  const get = (key: string) => ({ op: 'get', ns: 'a', key })
  return { ...served, kv, put, read: get }
}

test('put, get, delete: versions rise, also across a deletion', async (t) => {
  const { kv, put, read } = await stand(t)
  const [first] = await kv(put('k', { a: 1 }))
  assert.deepEqual([first.index, first.op, first.applied, first.key], [0, 'put', true, 'k'])
  assert.deepEqual(first.value, { a: 1 })
  const [got] = await kv(read('k'))
  assert.deepEqual([got.found, got.version, got.expiresAt], [true, first.version, null])
  assert.match(got.updatedAt, /Z$/)
  const [deleted] = await kv({ op: 'delete', ns: 'a', key: 'k' })
  assert.equal(deleted.applied, true)
  const [missed] = await kv(read('k'))
  assert.deepEqual([missed.found, missed.key, 'value' in missed], [false, 'k', false])
  const [again] = await kv(put('k', null))
  assert.ok(again.version > first.version)
  const [real] = await kv(read('k'))
  assert.deepEqual([real.found, real.value], [true, null])
})

test('expect: 0 must not exist, n must be the version, and a loss names the winner', async (t) => {
  const { kv, put } = await stand(t)
  const [first] = await kv(put('k', 'one', { expect: 0 }))
  const [exists] = await kv(put('k', 'two', { expect: 0 }))
  assert.deepEqual(
    [exists.applied, exists.reason, exists.value, exists.version],
    [false, 'exists', 'one', first.version],
  )
  const [stale] = await kv(put('k', 'two', { expect: first.version + 100 }))
  assert.deepEqual([stale.applied, stale.reason, stale.value], [false, 'version', 'one'])
  const [absent] = await kv(put('none', 'x', { expect: 5 }))
  assert.deepEqual([absent.applied, absent.reason], [false, 'absent'])
  const [ifAbsent] = await kv({ op: 'putIfAbsent', ns: 'a', key: 'k', value: 1, forever: true })
  assert.deepEqual([ifAbsent.applied, ifAbsent.reason], [false, 'exists'])
  const [moved] = await kv(put('k', 'three', { expect: first.version }))
  assert.equal(moved.applied, true)
})

test('check writes nothing: held has no value, lost has the current one', async (t) => {
  const { kv, put } = await stand(t)
  const [{ version }] = await kv(put('k', 'v'))
  const [held] = await kv({ op: 'check', ns: 'a', key: 'k', expect: version })
  assert.deepEqual([held.applied, held.version, 'value' in held], [true, version, false])
  const [lost] = await kv({ op: 'check', ns: 'a', key: 'k', expect: version + 1 })
  assert.deepEqual([lost.applied, lost.reason, lost.value, lost.version], [false, 'version', 'v', version])
  const [absent] = await kv({ op: 'check', ns: 'a', key: 'none', expect: 0 })
  assert.equal(absent.applied, true)
})

test('incr is exact decimal arithmetic within its bounds', async (t) => {
  const { kv, post } = await stand(t)
  const incr = (delta: number, more: object = {}) => ({ op: 'incr', ns: 'a', key: 'n', delta, forever: true, ...more })
  await kv(incr(0.1))
  const [sum] = await kv(incr(0.2))
  assert.equal(sum.value, 0.3)
  const big = await post('/api/v1/kv', '[{"op":"incr","ns":"a","key":"b","delta":9007199254740993,"forever":true}]')
  assert.match(big.text, /"value":9007199254740993[,}]/)
  const [limited] = await kv(incr(10, { max: 5 }))
  assert.deepEqual([limited.applied, limited.reason, limited.value], [false, 'limit', 0.3])
  const [first] = await kv({ op: 'incr', ns: 'a', key: 'new', delta: 10, max: 5, forever: true })
  assert.deepEqual([first.applied, first.reason], [false, 'limit'])
  await kv({ op: 'put', ns: 'a', key: 'text', value: 'x', forever: true })
  const [type] = await kv({ op: 'incr', ns: 'a', key: 'text', delta: 1, forever: true })
  assert.deepEqual([type.applied, type.reason], [false, 'type'])
})

test('an expired row does not exist, for any operation', async (t) => {
  const { kv, put, read } = await stand(t)
  const [first] = await kv(put('k', 1, { forever: undefined, ttlSeconds: 1 }))
  await waitFor('the expiry', async () => (await kv(read('k')))[0].found === false)
  const [again] = await kv(put('k', 2, { expect: 0 }))
  assert.equal(again.applied, true)
  assert.ok(again.version > first.version)
})

test('getMany and getPrefix see the call’s own writes, in byte order', async (t) => {
  const { kv, put } = await stand(t)
  const results = await kv({ op: 'getPrefix', ns: 'a', prefix: 'k' }, put('k-b', 2), put('k-a', 1), put('k-é', 3), {
    op: 'getMany',
    ns: 'a',
    keys: ['k-b', 'none'],
  })
  assert.deepEqual(
    results[0].rows.map((row: Untyped) => row.key),
    ['k-a', 'k-b', 'k-é'],
  )
  assert.deepEqual([results[0].truncated, results[0].nextAfter], [false, null])
  assert.deepEqual(
    results[4].rows.map((row: Untyped) => row.value),
    [2],
  )
  assert.deepEqual(results[4].missing, ['none'])
  const [page] = await kv({ op: 'getPrefix', ns: 'a', prefix: 'k', limit: 1, keysOnly: true })
  assert.deepEqual([page.truncated, page.nextAfter, 'value' in page.rows[0]], [true, 'k-a', false])
  const [next] = await kv({ op: 'getPrefix', ns: 'a', prefix: 'k', after: 'k-a', limit: 5000 })
  assert.equal(next.rows.length, 2)
})

test('a read brings four megabytes at most, a prefix brings a thousand keys at most, and both say that there is more', async (t) => {
  const { kv, put } = await stand(t)
  // Keys of six bytes count too, and the quotes of a text.
  const big = 'x'.repeat(LIMITS.kvReadBytes / 64 - 6 - 2)
  await kv(...Array.from({ length: 65 }, (_, n) => put(`big-${n + 10}`, big)))
  const many = async (count: number): Promise<Untyped> => {
    const [read] = await kv({ op: 'getMany', ns: 'a', keys: Array.from({ length: count }, (_, n) => `big-${n + 10}`) })
    return [read.rows.length, read.truncated]
  }
  assert.deepEqual(await many(64), [64, false])
  assert.deepEqual(await many(65), [64, true])

  const most = LIMITS.kvPrefixLimit
  for (let from = 0; from <= most; from += LIMITS.kvOperations) {
    const count = Math.min(LIMITS.kvOperations, most + 1 - from)
    await kv(...Array.from({ length: count }, (_, n) => put(`p-${from + n}`, 1)))
  }
  const listed = async (limit: number): Promise<Untyped> => {
    const [page] = await kv({ op: 'getPrefix', ns: 'a', prefix: 'p-', limit })
    return [page.rows.length, page.truncated]
  }
  assert.deepEqual(await listed(most - 1), [most - 1, true])
  assert.deepEqual(await listed(most), [most, true])
  assert.deepEqual(await listed(most + 1), [most, true], 'as the wire says: no more than that')
})

test('a required write that loses aborts the whole call with 200', async (t) => {
  const { post, kv, put, read } = await stand(t)
  const [{ version }] = await kv(put('k', 'v'))
  const { status, json } = await post('/api/v1/kv', [put('other', 1), put('k', 2, { expect: 0, required: true })])
  assert.equal(status, 200)
  assert.deepEqual(json, {
    ok: false,
    reason: 'kv_precondition',
    failedIndex: 1,
    kvReason: 'exists',
    version,
    value: 'v',
  })
  assert.equal((await kv(read('other')))[0].found, false)
})

test('what is wrong is 400 with the code as the error and a reason', async (t) => {
  const { post, put } = await stand(t)
  const cases: readonly [unknown, string][] = [
    ['{', 'kv_bad_body'],
    ['5', 'kv_bad_body'],
    [{ operations: {} }, 'kv_bad_body'],
    [[7], 'kv_bad_op'],
    [[{ op: 'eat', ns: 'a', key: 'k' }], 'kv_unknown_op'],
    [[{ ...put('k', 1), ns: 'Upper' }], 'kv_bad_ns'],
    [[{ ...put('k', 1), ns: 'n'.repeat(65) }], 'kv_bad_ns'],
    [[put('', 1)], 'kv_bad_key'],
    [[put('k\0', 1)], 'kv_bad_key'],
    [[put('x'.repeat(513), 1)], 'kv_bad_key'],
    [[put('k', undefined)], 'kv_bad_value'],
    [[put('k', 1, { forever: undefined })], 'kv_expiry_not_specified'],
    [[put('k', 1, { ttlSeconds: 5 })], 'kv_expiry_not_specified'],
    [[put('k', 1, { forever: false })], 'kv_expiry_not_specified'],
    [[put('k', 1, { forever: undefined, ttlSeconds: 0 })], 'kv_bad_ttl'],
    [[put('k', 1, { forever: undefined, ttlSeconds: 1.5 })], 'kv_bad_ttl'],
    [[put('k', 1, { forever: undefined, ttlSeconds: '5' })], 'kv_bad_ttl'],
    [[put('k', 1, { expect: -1 })], 'kv_bad_expect'],
    [[put('k', 1, { expect: 'x' })], 'kv_bad_expect'],
    [[put('k', 1, { tenant: 'x' })], 'kv_tenant_field'],
    [[{ op: 'check', ns: 'a', key: 'k' }], 'kv_bad_expect'],
    [[{ op: 'incr', ns: 'a', key: 'k', forever: true }], 'kv_bad_delta'],
    [[{ op: 'incr', ns: 'a', key: 'k', delta: '1', forever: true }], 'kv_bad_delta'],
    [[{ op: 'getPrefix', ns: 'a', prefix: '' }], 'kv_bad_prefix'],
    [[put('k', 1), put('k', 2)], 'kv_duplicate_key_in_call'],
    [Array.from({ length: 257 }, (_, i) => put(`k${i}`, 1)), 'kv_too_many_ops'],
    [[{ op: 'getMany', ns: 'a', keys: Array.from({ length: 4097 }, (_, i) => `k${i}`) }], 'kv_bad_keys'],
  ]
  for (const [body, reason] of cases) {
    const { status, json } = await post('/api/v1/kv', body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.deepEqual([json.error, json.reason], ['kv_bad_request', reason], JSON.stringify(body).slice(0, 200))
    assert.equal(typeof json.detail, 'string')
  }
  const large = await post('/api/v1/kv', [put('k', 'x'.repeat(65_536))])
  assert.deepEqual([large.status, large.json.error], [413, 'payload_too_large'])
  const exact = await post('/api/v1/kv', [put('k', 'x'.repeat(65_534))])
  assert.equal(exact.status, 200)
})

test('an empty list is answered empty, and one bad call never costs another', async (t) => {
  const { post, put } = await stand(t)
  assert.deepEqual((await post('/api/v1/kv', [])).json, { results: [] })
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, i) => post('/api/v1/kv', [i % 3 === 0 ? put('', 1) : put(`k${i}`, i)])),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 400 : 200)),
  )
})

test('with a request id a call is done once, unless it was rolled back', async (t) => {
  const { post, kv, put, read } = await stand(t)
  const body = { operations: [{ op: 'incr', ns: 'a', key: 'n', delta: 1, forever: true }], requestId: 'k-1' }
  const first = await post('/api/v1/kv', body)
  assert.equal((await post('/api/v1/kv', body)).text, first.text)
  assert.equal((await kv(read('n')))[0].value, 1)
  const guarded = { operations: [put('g', 1, { expect: 5, required: true })], requestId: 'k-2' }
  assert.equal((await post('/api/v1/kv', guarded)).json.ok, false)
  assert.equal((await post('/api/v1/kv', guarded)).json.ok, false)
  const key = { 'idempotency-key': 'k-3' }
  const header = await post('/api/v1/kv', body.operations, key)
  assert.equal((await post('/api/v1/kv', body.operations, key)).text, header.text)
})

test('the path forms read, write and delete one key', async (t) => {
  const { send } = await stand(t)
  const path = `/api/v1/kv/orders/${encodeURIComponent('a/b é')}`
  const put = await send('PUT', path, '{"value":{"n":1.10},"ttlSeconds":60}')
  assert.equal(put.status, 200)
  assert.equal(put.json.applied, true)
  const got = await send('GET', path)
  assert.equal(got.headers['etag'], `"${put.json.version}"`)
  assert.match(got.text, /"value":\{"n":1\.10\}/)
  assert.equal((await send('GET', '/api/v1/kv/orders/a/b')).json.key, 'a/b')
  assert.equal((await send('GET', `${path}?x=1`)).status, 400)
  assert.equal((await send('PUT', path, { value: 1, forever: true, key: 'other' })).json.reason, 'kv_bad_body')
  assert.equal((await send('PUT', path, { value: 1 })).json.reason, 'kv_expiry_not_specified')
  const lost = await send('DELETE', path, { expect: 1_000_000 })
  assert.deepEqual([lost.json.applied, lost.json.reason], [false, 'version'])
  assert.equal((await send('DELETE', path)).json.applied, true)
  assert.equal((await send('GET', path)).json.found, false)
})
