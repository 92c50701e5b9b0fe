// Names and values that broke others: they come back exactly, distinct from their neighbours, or are refused (B20–B22).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kv } from '../../src/operations/kv.ts'
import { kvIn } from '../../src/operations/kv-in.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { doorOf, get, getMany, put, resultsOf } from './kv-operations.ts'

const KEYS = [
  `a'; drop table lockstep.kv;--`,
  'a"b',
  '{a,b}',
  'NULL',
  'null',
  '\\',
  '%2e%2e',
  '..',
  'A',
  'a',
  '\u00e9',
  'e\u0301',
  '😀',
  '\u200f',
  ' ',
  '\n',
  'x'.repeat(512),
  '\u{1f600}'.repeat(128),
]

const VALUES = [
  '9007199254740993',
  '-0',
  '1e400',
  '1.10',
  '0.1',
  'null',
  '"\\u0000"',
  '{"\\u0000":["\\u0000",{"a":"\\u0000"}]}',
  '"\\ud800"',
  '{"b":1,"a":2,"b":3}',
  ' [1, 2 ] ',
  `${'['.repeat(500)}${']'.repeat(500)}`,
  JSON.stringify('quote " backslash \\ slash / tab \t é 😀'),
  JSON.stringify('x'.repeat(65_534)),
]

test('hostile keys are values: each comes back exactly and apart from its neighbours', async (t) => {
  const { database } = await createTestDatabase(t)
  await kv(database, [KEYS.map((key, at) => put(key, String(at)))])
  const [answer] = await kv(database, [[...KEYS.map((key) => get(key)), getMany(...KEYS)]])
  const results = resultsOf(answer)
  for (const [at, key] of KEYS.entries()) {
    const result = results[at]
    assert.ok(result?.op === 'get' && result.found, key)
    assert.equal(result.row.key, key)
    assert.equal(result.row.value, String(at))
  }
  const many = results.at(-1)
  assert.ok(many?.op === 'getMany')
  assert.deepEqual(
    many.rows.map(({ key }) => key),
    KEYS,
  )
})

test('the bytes of a value come back equal, joined and through a door', async (t) => {
  const { database, connect } = await createTestDatabase(t)
  await kv(
    database,
    VALUES.map((value, at) => [put(`joined${at}`, value)]),
  )
  const client = await connect()
  await client.query('begin')
  await kvIn(
    doorOf(client),
    VALUES.map((value, at) => put(`door${at}`, value)),
  )
  await client.query('commit')
  for (const [at, value] of VALUES.entries()) {
    const [answer] = await kv(database, [[get(`joined${at}`), get(`door${at}`)]])
    for (const result of resultsOf(answer)) {
      assert.ok(result.op === 'get' && result.found)
      assert.equal(result.row.value, value)
    }
    // The losing side carries the winner's bytes too.
    const [lost] = await kv(database, [[put(`joined${at}`, '0', { expect: 0, required: true })]])
    assert.ok(lost && !lost.ok)
    assert.equal(lost.value, value)
  }
})

test('SQL refuses what no door has checked, with its own codes, before anything is written', async (t) => {
  const { connect } = await createTestDatabase(t)
  const client = await connect()
  const refusals: readonly (readonly [string, string])[] = [
    [`select lockstep.kv_put('UPPER', 'k', '1', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('', 'k', '1', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('${'n'.repeat(65)}', 'k', '1', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('t', '', '1', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('t', null, '1', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('t', '${'k'.repeat(513)}', '1', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('t', 'k', null, p_forever => true)`, 'LS402'],
    [`select lockstep.kv_put('t', 'k', '1')`, 'LS402'],
    [`select lockstep.kv_put('t', 'k', '1', '1 hour', true)`, 'LS402'],
    [`select lockstep.kv_put('t', 'k', '1', '-1 hour')`, 'LS402'],
    [`select lockstep.kv_put('t', 'k', '1', p_forever => true, p_expect => -1)`, 'LS402'],
    [`select lockstep.kv_put('t', 'k', '"${'x'.repeat(65_535)}"', p_forever => true)`, 'LS413'],
    [`select lockstep.kv_put('t', 'k', 'no json', p_forever => true)`, '22P02'],
    [`select lockstep.kv_incr('t', 'k', 'NaN', p_forever => true)`, 'LS402'],
    [`select lockstep.kv_incr('t', 'k', null, p_forever => true)`, 'LS402'],
    [`select lockstep.kv_check('t', 'k', null)`, 'LS402'],
    [`select lockstep.kv_get('T', 'k')`, 'LS402'],
    [`select lockstep.kv_get_many('t', array['a', ''])`, 'LS402'],
    [`select lockstep.kv_get_prefix('t', '')`, 'LS402'],
    [
      `select lockstep.kv('{0}', '{steal}', '{t}', '{k}', '{1}', '{null}', '{f}', '{null}', '{null}', '{null}', '{null}', '{null}', '{null}', '{f}')`,
      'LS402',
    ],
  ]
  for (const [statement, code] of refusals) {
    await assert.rejects(client.query(statement), (error: unknown) => {
      assert.equal(error instanceof Error && Reflect.get(error, 'code'), code, statement)
      return true
    })
  }
  const { rowCount } = await client.query('select 1 from lockstep.kv')
  assert.equal(rowCount, 0)
})

test('one key written twice in one call is refused, and the call writes nothing', async (t) => {
  const { database } = await createTestDatabase(t)
  await assert.rejects(kv(database, [[put('k', '1'), put('k', '2')]]), { code: 'kv_duplicate_key_in_call' })
  const [answer] = await kv(database, [[get('k')]])
  assert.deepEqual(resultsOf(answer), [{ op: 'get', found: false, key: 'k' }])
})
