// Key/value verbs inside a user's own transaction: through a door and from psql, under every isolation level. They end
// with that transaction, and an expected loss leaves it usable.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kv } from '../../src/operations/kv.ts'
import { kvIn } from '../../src/operations/kv-in.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { check, doorOf, get, getMany, getPrefix, incr, put, remove, resultsOf } from './kv-operations.ts'

const LEVELS = ['read committed', 'repeatable read', 'serializable']

test('kvIn lives and dies with the transaction, also with a savepoint', async (t) => {
  const { database, connect } = await createTestDatabase(t)
  for (const level of LEVELS) {
    const client = await connect()
    await client.query('create table if not exists own (id int)')
    await client.query(`begin isolation level ${level}`)
    await client.query('insert into own values (1)')
    const answer = await kvIn(doorOf(client), [put('kept', '1'), incr('n', '2'), get('kept'), getPrefix('k')])
    assert.equal(answer.ok, true)
    await client.query('savepoint s')
    await kvIn(doorOf(client), [put('gone', '1'), remove('kept')])
    await client.query('rollback to s')
    const lost = await kvIn(doorOf(client), [put('kept', '2', { expect: 0, required: true })])
    assert.equal(lost.ok, false)
    // A loss is an answer: the transaction goes on.
    await client.query('insert into own values (2)')
    const [before] = await kv(database, [[get('kept')]])
    assert.deepEqual(resultsOf(before), [{ op: 'get', found: false, key: 'kept' }])
    await client.query('commit')
    const [after] = await kv(database, [[getMany('kept', 'gone', 'n')]])
    const [many] = resultsOf(after)
    assert.ok(many?.op === 'getMany')
    assert.deepEqual(many.missing, ['gone'])
    await client.query('begin')
    await kvIn(doorOf(client), [remove('kept'), remove('n'), put('never', '1')])
    await client.query('rollback')
    await kv(database, [[remove('kept'), remove('n')]])
  }
})

test('each verb has a form for psql that answers in columns', async (t) => {
  const { connect } = await createTestDatabase(t)
  const client = await connect()
  const one = async (statement: string) => (await client.query({ text: statement, rowMode: 'array' })).rows[0]
  const put1 = await one(`select * from lockstep.kv_put('t', 'k', '{"a": 9007199254740993}', p_ttl => '30 days')`)
  assert.deepEqual(put1?.slice(0, 2), [true, null])
  assert.equal(put1?.[3], '{"a": 9007199254740993}')
  const [value, version, expires] = (await one(`select * from lockstep.kv_get('t', 'k')`)) ?? []
  assert.equal(value, '{"a": 9007199254740993}')
  assert.equal(version, put1?.[2])
  assert.ok(expires instanceof Date && expires.getTime() > Date.now() + 29 * 86_400_000)
  assert.deepEqual(
    await one(`select applied, reason from lockstep.kv_put_if_absent('t', 'k', '1', p_forever => true)`),
    [false, 'exists'],
  )
  assert.deepEqual(await one(`select applied, value from lockstep.kv_incr('t', 'n', 0.1, p_forever => true)`), [
    true,
    '0.1',
  ])
  assert.deepEqual(
    await one(`select applied, reason, value from lockstep.kv_incr('t', 'n', 1, p_forever => true, p_max => 1)`),
    [false, 'limit', '0.1'],
  )
  assert.deepEqual(await one(`select applied, reason from lockstep.kv_check('t', 'k', 0)`), [false, 'exists'])
  assert.deepEqual(await one(`select applied from lockstep.kv_check('t', 'free', 0)`), [true])
  assert.deepEqual(await one(`select key, value from lockstep.kv_get_many('t', array['n', 'none'])`), ['n', '0.1'])
  assert.deepEqual(await one(`select key from lockstep.kv_get_prefix('t', 'k')`), ['k'])
  assert.deepEqual(await one(`select applied, reason from lockstep.kv_delete('t', 'k', 1000000)`), [false, 'version'])
  assert.deepEqual(await one(`select applied from lockstep.kv_delete('t', 'k')`), [true])
  assert.deepEqual(await one(`select value, version from lockstep.kv_get('t', 'k')`), [null, '0'])
})

test('under a snapshot that has moved, a write is the user his 40001, never a wrong verdict', async (t) => {
  const { database, connect } = await createTestDatabase(t)
  await kv(database, [[put('old', '1')]])
  for (const level of ['repeatable read', 'serializable']) {
    const client = await connect()
    for (const operations of [
      [put('old', '2', { expect: 0 })],
      [check('old', 0)],
      [put('fresh', '2', { expect: 0 })],
      [check('fresh', 0)],
      [incr('count', '1')],
    ]) {
      await kv(database, [[remove('fresh'), remove('count'), put('old', '"x"')]])
      await client.query(`begin isolation level ${level}`)
      await client.query('select 1')
      await kv(database, [[put('old', '"y"'), put('fresh', '"y"'), incr('count', '1')]])
      await assert.rejects(kvIn(doorOf(client), operations), (error: unknown) => {
        assert.equal(error instanceof Error && Reflect.get(error, 'code'), '40001')
        return true
      })
      await client.query('rollback')
    }
    await client.end()
  }
})

test('reads work in a read-only transaction, and a write there is refused as such', async (t) => {
  const { connect, database } = await createTestDatabase(t)
  await kv(database, [[put('k', '1')]])
  const client = await connect()
  await client.query('begin read only')
  const answer = await kvIn(doorOf(client), [get('k'), getMany('k'), getPrefix('k')])
  assert.equal(answer.ok, true)
  await assert.rejects(kvIn(doorOf(client), [put('k', '2')]), (error: unknown) => {
    assert.equal(error instanceof Error && Reflect.get(error, 'code'), '25006')
    return true
  })
})
