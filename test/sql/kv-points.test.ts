// What put, putIfAbsent, delete, incr and check do to one key, and how a call of several is judged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kv } from '../../src/operations/kv.ts'
import type { KvOperation, KvResult } from '../../src/protocol/kv.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { check, get, getMany, incr, put, remove, resultsOf } from './kv-operations.ts'

type Written = Extract<KvResult, { applied: boolean }>

async function open(t: Parameters<typeof createTestDatabase>[0]) {
  const { database, connect } = await createTestDatabase(t)
  const call = async (...operations: KvOperation[]) => resultsOf((await kv(database, [operations]))[0])
  const write = async (operation: KvOperation): Promise<Written> => {
    const [result] = await call(operation)
    assert.ok(result !== undefined && 'applied' in result)
    return result
  }
  const valueOf = async (key: string) => {
    const [result] = await call(get(key))
    return result?.op === 'get' && result.found ? result.row.value : null
  }
  return { database, connect, call, write, valueOf }
}

test('put writes, overwrites and answers a version that rises', async (t) => {
  const { write, call } = await open(t)
  const first = await write(put('k', '{"a":1}'))
  const second = await write(put('k', '[2]'))
  assert.deepEqual(
    { ...first, version: 0 },
    { op: 'put', key: 'k', applied: true, value: '{"a":1}', version: 0, reason: null },
  )
  assert.ok(Number(second.version) > Number(first.version))
  const [found] = await call(get('k'))
  assert.ok(found?.op === 'get' && found.found)
  assert.equal(found.row.value, '[2]')
  assert.equal(found.row.version, second.version)
  assert.equal(found.row.expiresAt, null)
  assert.match(found.row.updatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
})

test('expect 0 creates only, expect n updates only, and a loser learns what is there', async (t) => {
  const { write } = await open(t)
  const lost = await write(put('k', '1', { expect: 7 }))
  assert.deepEqual(lost, { op: 'put', key: 'k', applied: false, value: null, version: 0, reason: 'absent' })
  const made = await write(put('k', '1', { expect: 0 }))
  assert.equal(made.applied, true)
  const late = await write({ ...put('k', '2'), op: 'putIfAbsent' })
  assert.deepEqual(late, {
    op: 'putIfAbsent',
    key: 'k',
    applied: false,
    value: '1',
    version: made.version,
    reason: 'exists',
  })
  const stale = await write(put('k', '3', { expect: Number(made.version) + 1 }))
  assert.deepEqual(stale, { op: 'put', key: 'k', applied: false, value: '1', version: made.version, reason: 'version' })
  const next = await write(put('k', '4', { expect: Number(made.version) }))
  assert.equal(next.applied, true)
})

test('delete removes; deleting what is absent changes nothing and says so', async (t) => {
  const { write, valueOf } = await open(t)
  const made = await write(put('k', '1'))
  assert.equal((await write(remove('k', { expect: Number(made.version) + 1 }))).reason, 'version')
  const gone = await write(remove('k', { expect: Number(made.version) }))
  assert.equal(gone.applied, true)
  assert.equal(gone.value, null)
  assert.equal(await valueOf('k'), null)
  assert.equal((await write(remove('k'))).reason, 'absent')
})

test('a key that is created again after its deletion gets a higher version', async (t) => {
  const { write } = await open(t)
  const first = await write(put('k', '1'))
  const gone = await write(remove('k'))
  const again = await write(put('k', '2', { expect: 0 }))
  assert.ok(Number(first.version) < Number(gone.version))
  assert.ok(Number(gone.version) < Number(again.version))
})

test('incr is exact decimal arithmetic and counts an absent key as 0', async (t) => {
  const { write } = await open(t)
  assert.equal((await write(incr('n', '0.1'))).value, '0.1')
  assert.equal((await write(incr('n', '0.2'))).value, '0.3')
  assert.equal((await write(incr('n', '-0.3'))).value, '0')
  assert.equal((await write(incr('n', '9007199254740993'))).value, '9007199254740993')
  assert.equal((await write(incr('n', '1'))).value, '9007199254740994')
  assert.equal((await write(incr('e', '1e3'))).value, '1000')
})

test('incr past a bound writes nothing, also on the first call, and refuses what is no number', async (t) => {
  const { write, valueOf } = await open(t)
  const first = await write(incr('n', '5', { max: '4' }))
  assert.deepEqual(first, { op: 'incr', key: 'n', applied: false, value: null, version: 0, reason: 'limit' })
  assert.equal((await write(incr('n', '4', { max: '4' }))).value, '4')
  const past = await write(incr('n', '1', { max: '4' }))
  assert.equal(past.reason, 'limit')
  assert.equal(past.value, '4')
  assert.equal((await write(incr('n', '-5', { min: '0' }))).reason, 'limit')
  assert.equal(await valueOf('n'), '4')
  for (const text of ['"4"', 'null', 'true', '[1]', '{"n":1}', '1e999999999', `1${'0'.repeat(2_000)}`]) {
    await write(put('x', text))
    const refused = await write(incr('x', '1'))
    assert.equal(refused.reason, 'type', text)
    assert.equal(refused.value, text)
  }
})

test('a time to live of incr is set when it creates the number, never later', async (t) => {
  const { call, write } = await open(t)
  await write(incr('n', '1', { ttlSeconds: 60 }))
  const [before] = await call(get('n'))
  await write(incr('n', '1', { ttlSeconds: 3_600 }))
  const [after] = await call(get('n'))
  assert.ok(before?.op === 'get' && before.found && after?.op === 'get' && after.found)
  assert.notEqual(before.row.expiresAt, null)
  assert.equal(after.row.expiresAt, before.row.expiresAt)
})

test('put never inherits the expiry of the value before', async (t) => {
  const { call, write } = await open(t)
  await write(put('k', '1', { ttlSeconds: 60 }))
  await write(put('k', '2'))
  const [found] = await call(get('k'))
  assert.ok(found?.op === 'get' && found.found)
  assert.equal(found.row.expiresAt, null)
})

test('an expired row does not exist for any operation', async (t) => {
  const { database, connect, call, write } = await open(t)
  const kept = await write(put('k', '5', { ttlSeconds: 60 }))
  const admin = await connect()
  await admin.query(`update lockstep.kv set expires_at = lockstep.clock() - interval '1 microsecond' where key = 'k'`)
  const [one, many] = await call(get('k'), getMany('k'))
  assert.deepEqual(one, { op: 'get', found: false, key: 'k' })
  assert.deepEqual(many, { op: 'getMany', rows: [], missing: ['k'], truncated: false })
  assert.equal((await write(check('k', Number(kept.version)))).reason, 'absent')
  assert.equal((await write(put('k', '6', { expect: Number(kept.version) }))).reason, 'absent')
  assert.equal((await write(remove('k'))).reason, 'absent')
  assert.equal((await write(incr('k', '1'))).value, '1')
  const [made] = await kv(database, [[get('k')]])
  const [result] = resultsOf(made)
  assert.ok(result?.op === 'get' && result.found && result.row.version > Number(kept.version))
})

test('a required operation that loses rolls its whole call back and names itself and the winner', async (t) => {
  const { database, write, valueOf } = await open(t)
  const winner = await write(put('m', '"now"'))
  const [answer] = await kv(database, [
    [put('a', '1'), put('m', '"stale"', { expect: 1_000_000, required: true }), put('z', '1')],
  ])
  assert.deepEqual(answer, {
    ok: false,
    reason: 'kv_precondition',
    failedIndex: 1,
    kvReason: 'version',
    value: '"now"',
    version: winner.version,
  })
  for (const key of ['a', 'z']) assert.equal(await valueOf(key), null)
})

test('check holds without a value, and a required check that loses rolls back', async (t) => {
  const { database, write, valueOf } = await open(t)
  const lock = await write(put('lock', '"me"'))
  const held = await write(check('lock', Number(lock.version)))
  assert.deepEqual(held, { op: 'check', key: 'lock', applied: true, value: null, version: lock.version, reason: null })
  assert.equal((await write(check('free', 0))).applied, true)
  const [answer] = await kv(database, [[put('work', '1'), check('lock', 1_000_000, true)]])
  assert.equal(answer?.ok, false)
  assert.equal(await valueOf('work'), null)
})

test('operations are applied sorted by key and request order, and reads of many keys run last', async (t) => {
  const { call } = await open(t)
  const results = await call(get('b'), put('b', '2'), get('b'), getMany('b', 'a', 'x'), put('a', '1'))
  const [before, b, after, many, a] = results
  assert.deepEqual(before, { op: 'get', found: false, key: 'b' })
  assert.ok(after?.op === 'get' && after.found && after.row.value === '2')
  assert.ok(a && 'applied' in a && b && 'applied' in b)
  assert.ok(Number(a.version) < Number(b.version), 'a sorts before b')
  assert.ok(many?.op === 'getMany')
  assert.deepEqual(
    many.rows.map(({ key, value }) => [key, value]),
    [
      ['b', '2'],
      ['a', '1'],
    ],
  )
  assert.deepEqual(many.missing, ['x'])
})

test('calls of one statement are judged in order, each alone: a loser writes nothing and hurts nobody', async (t) => {
  const { database, valueOf } = await open(t)
  const answers = await kv(database, [
    [put('k', '1', { expect: 0, required: true }), put('first', '1')],
    [put('second', '2'), put('k', '2', { expect: 0, required: true })],
    [incr('n', '1')],
    [incr('n', '1')],
    [get('k'), incr('n', '1')],
    [],
  ])
  assert.deepEqual(
    answers.map(({ ok }) => ok),
    [true, false, true, true, true, true],
  )
  assert.equal(await valueOf('k'), '1')
  assert.equal(await valueOf('first'), '1')
  assert.equal(await valueOf('second'), null)
  assert.equal(await valueOf('n'), '3')
  const [seen] = resultsOf(answers[4])
  assert.ok(seen?.op === 'get' && seen.found && seen.row.value === '1')
  assert.deepEqual(answers[5], { ok: true, results: [] })
})

test('a call undone by its loser leaves no trace for the calls after it', async (t) => {
  const { database, valueOf } = await open(t)
  await kv(database, [[put('k', '"before"')]])
  const answers = await kv(database, [
    [put('k', '"undone"'), remove('l'), check('m', 99, true)],
    [get('k'), put('l', '1', { expect: 0, required: true })],
  ])
  assert.equal(answers[0]?.ok, false)
  const [seen] = resultsOf(answers[1])
  assert.ok(seen?.op === 'get' && seen.found && seen.row.value === '"before"')
  assert.equal(await valueOf('l'), '1')
})
