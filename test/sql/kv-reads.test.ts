// getMany and getPrefix: order, pages, the read budget, and that a call is read at one instant.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kv } from '../../src/operations/kv.ts'
import type { KvOperation, KvResult } from '../../src/protocol/kv.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { get, getMany, getPrefix, put, remove, resultsOf } from './kv-operations.ts'

type Prefix = Extract<KvResult, { op: 'getPrefix' }>

const prefixOf = (result: KvResult | undefined): Prefix => {
  assert.ok(result?.op === 'getPrefix')
  return result
}

async function open(t: Parameters<typeof createTestDatabase>[0]) {
  const own = await createTestDatabase(t)
  const call = async (...operations: KvOperation[]) => resultsOf((await kv(own.database, [operations]))[0])
  return { ...own, call }
}

test('getPrefix answers in byte order and pages by the last key without repeats or gaps', async (t) => {
  const { call } = await open(t)
  const keys = ['o/1', 'o/10', 'o/2', 'o/A', 'o/a', 'o/\u00e9', 'o/e\u0301', 'o/\u{1f600}', 'o/\u{10ffff}', 'o/']
  await call(...[...keys, 'n/1', 'p', 'o'].map((key) => put(key, '1')))
  const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const seen: string[] = []
  let after: string | null = null
  do {
    const page: Prefix = prefixOf((await call(getPrefix('o/', { limit: 3, after })))[0])
    seen.push(...page.rows.map(({ key }) => key))
    assert.equal(page.truncated, page.nextAfter !== null)
    after = page.nextAfter
  } while (after !== null)
  assert.deepEqual(seen, sorted)
})

test('getPrefix can answer keys only, and a prefix of one namespace never shows another', async (t) => {
  const { call } = await open(t)
  await call(put('k1', '"v"'), put('k2', '"v"', { ns: 'other' }), put('k3', '"v"', { ns: 't2' }))
  const [page] = await call(getPrefix('k', { keysOnly: true }))
  assert.deepEqual(
    prefixOf(page).rows.map(({ key, value }) => [key, value]),
    [['k1', null]],
  )
})

test('a prefix that holds pattern characters matches only itself', async (t) => {
  const { call } = await open(t)
  await call(put('a%b', '1'), put('axb', '1'), put('a_c', '1'), put('ayc', '1'), put('a\\d', '1'))
  for (const [prefix, key] of [
    ['a%', 'a%b'],
    ['a_', 'a_c'],
    ['a\\', 'a\\d'],
  ] as const) {
    const [page] = await call(getPrefix(prefix))
    assert.deepEqual(
      prefixOf(page).rows.map((row) => row.key),
      [key],
    )
  }
})

test('getPrefix beside writes sees what its own call wrote', async (t) => {
  const { database, call } = await open(t)
  await call(put('k1', '1'), put('k2', '2'))
  const answers = await kv(database, [[getPrefix('k'), put('k3', '{"prefix":0}'), remove('k1')], [put('k9', '9')]])
  const [page] = resultsOf(answers[0])
  const shown = prefixOf(page).rows.filter(({ key }) => key !== 'k9')
  assert.deepEqual(
    shown.map(({ key, value }) => [key, value]),
    [
      ['k2', '2'],
      ['k3', '{"prefix":0}'],
    ],
  )
})

test('a call reads at most 4 MiB and says what it left out', async (t) => {
  const { call } = await open(t)
  const big = JSON.stringify('x'.repeat(65_534))
  const keys = Array.from({ length: 70 }, (_, at) => `big/${String(at).padStart(2, '0')}`)
  await call(...keys.map((key) => put(key, big)))
  const [many] = await call(getMany(...keys))
  assert.ok(many?.op === 'getMany')
  assert.equal(many.rows.length, 63)
  assert.equal(many.truncated, true)
  assert.deepEqual(many.missing, [])
  // The same beside a write, where the rows come from memory.
  const [beside] = await call(getMany(...keys), put('other', '1'))
  assert.ok(beside?.op === 'getMany')
  assert.equal(beside.rows.length, 64)
  assert.equal(beside.truncated, true)
  const first = prefixOf((await call(getPrefix('big/')))[0])
  assert.equal(first.truncated, true)
  const rest = prefixOf((await call(getPrefix('big/', { after: first.nextAfter })))[0])
  assert.deepEqual(
    [...first.rows, ...rest.rows].map(({ key }) => key),
    keys,
  )
  assert.equal(rest.truncated, false)
  // The budget is the call's: a second read finds it spent and says where to go on.
  const [, second] = await call(getMany(...keys), getPrefix('big/', { after: 'big/50' }))
  assert.deepEqual(prefixOf(second).rows, [])
  assert.equal(prefixOf(second).nextAfter, 'big/50')
})

test('joined readers get their own answers, each with its own budget', async (t) => {
  const { database, call } = await open(t)
  const big = JSON.stringify('x'.repeat(65_534))
  const keys = Array.from({ length: 40 }, (_, at) => `k${at}`)
  await call(...keys.map((key) => put(key, big)))
  const answers = await kv(database, [[getMany(...keys)], [getMany()], [getMany(...keys)], [get('k1'), get('absent')]])
  for (const at of [0, 2]) {
    const [many] = resultsOf(answers[at])
    assert.ok(many?.op === 'getMany')
    assert.equal(many.rows.length, 40)
    assert.equal(many.truncated, false)
  }
  assert.deepEqual(resultsOf(answers[1]), [{ op: 'getMany', rows: [], missing: [], truncated: false }])
  assert.deepEqual(
    resultsOf(answers[3]).map((result) => result.op === 'get' && result.found),
    [true, false],
  )
})

test('a call that only reads takes no lock and makes no row', async (t) => {
  const { database, connect, call } = await open(t)
  await call(put('held', '1'))
  const other = await connect()
  await other.query('begin')
  await other.query(`select 1 from lockstep.kv where key = 'held' for update`)
  const [answer] = await kv(database, [[get('held'), get('absent'), getMany('held', 'none'), getPrefix('h')]])
  assert.equal(answer?.ok, true)
  await other.query('commit')
  const { rows } = await other.query('select key from lockstep.kv')
  assert.deepEqual(rows, [{ key: 'held' }])
})

test('a read-only call is one snapshot: keys that change together are never seen apart', async (t) => {
  const { database, call } = await open(t)
  await call(put('a', '0'), put('z/b', '0'))
  const state = { writing: true }
  const writer = (async () => {
    for (let n = 1; n <= 150; n++) await call(put('a', String(n)), put('z/b', String(n)))
    state.writing = false
  })()
  let reads = 0
  while (state.writing) {
    const [one, page] = resultsOf((await kv(database.reader, [[get('a'), getPrefix('z/')]]))[0])
    assert.ok(one?.op === 'get' && one.found)
    assert.equal(prefixOf(page).rows[0]?.value, one.row.value)
    reads++
  }
  await writer
  assert.ok(reads > 0)
})
