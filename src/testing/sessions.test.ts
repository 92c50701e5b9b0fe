// The rig for interleavings: it knows blocked from slow, and it tries every order.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from './database.ts'
import { openSessions, waitFor, waitUntilBlocked } from './sessions.ts'

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

test('waiting for what never comes ends with its name', async () => {
  await assert.rejects(
    waitFor('the impossible', () => false, 20),
    /waited 20 ms for the impossible/,
  )
  // Also when the answer itself never comes.
  await assert.rejects(
    waitFor('the silent', () => new Promise(() => {}), 20),
    /waited 20 ms for the silent/,
  )
})
