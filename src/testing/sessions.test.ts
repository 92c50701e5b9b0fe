// The rig for interleavings: it knows blocked from slow, and it tries every order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from './database.ts'
import { openSessions, permutations, waitFor, waitUntilBlocked } from './sessions.ts'

test('a session that waits for another is blocked, one that only takes its time is not', async (t) => {
  const own = await createTestDatabase(t, { migrated: false })
  await own.database.rows('create table t (x int)', [])
  await own.database.rows('insert into t values (1)', [])
  const { a, b } = await openSessions(own, ['a', 'b'])
  await a.run('begin')
  assert.deepEqual(await a.run('update t set x = 2 returning x'), { rows: [[2]] })
  assert.equal(await b.start('update t set x = 3'), 'blocked')
  await waitUntilBlocked(own, 1)
  await assert.rejects(b.start('select 1'), /still at its last statement/)
  await a.run('commit')
  assert.deepEqual(await b.result(), { rows: [] })
  assert.equal(await b.start('select pg_sleep(0.05)'), 'done')
  assert.deepEqual(await b.run('select 1/0'), { error: '22012' })
})

test('every order of the steps is tried once, each session in its own order', () => {
  const orders = permutations({ a: ['a1', 'a2'], b: ['b1', 'b2'], c: [] })
  assert.equal(orders.length, 6)
  assert.equal(new Set(orders.map((order) => order.join())).size, 6)
  for (const order of orders) {
    assert.ok(order.indexOf('a1') < order.indexOf('a2'))
    assert.ok(order.indexOf('b1') < order.indexOf('b2'))
  }
  assert.equal(permutations({ a: [1, 2, 3], b: [4, 5, 6], c: [7, 8, 9] }).length, 1680)
})

test('waiting for what never comes ends with its name', async () => {
  await assert.rejects(
    waitFor('the impossible', () => false, 20),
    /waited 20 ms for the impossible/,
  )
})
