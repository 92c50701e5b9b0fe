// Databases for tests: each its own, gone when its test has passed, kept and named when it has failed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { administer, createTestDatabase, type TestEnd } from './database.ts'

async function exists(name: string): Promise<boolean> {
  const { rowCount } = await administer((client) =>
    client.query('select 1 from pg_database where datname = $1', [name]),
  )
  return rowCount === 1
}

/** Plays node:test: collects what is to be done at the end, and does it. */
function played(passed: boolean): TestEnd & { end(): Promise<void>; readonly said: string[] } {
  const works: (() => Promise<void>)[] = []
  const said: string[] = []
  return {
    passed,
    said,
    after: (work) => void works.push(work),
    diagnostic: (message) => void said.push(message),
    async end() {
      for (const work of works) await work()
    },
  }
}

test('two databases share nothing, and both have the schema', async (t) => {
  const [a, b] = await Promise.all([createTestDatabase(t), createTestDatabase(t)])
  await a.database.rows('create table mine (x int)', [])
  assert.deepEqual(await b.database.rows(`select to_regclass('mine'), to_regclass('lockstep.queue')`, []), [
    [null, 'lockstep.queue'],
  ])
})

test('the database of a passed test is gone, also with connections left open', async () => {
  const t = played(true)
  const own = await createTestDatabase(t)
  const client = await own.connect()
  await client.query('begin')
  await own.database.pool.connect()
  assert.ok(await exists(own.name))
  await t.end()
  assert.ok(!(await exists(own.name)))
  assert.deepEqual(t.said, [])
})

test('the database of a failed test is kept with all it holds, and named', async (t) => {
  const failed = played(false)
  const own = await createTestDatabase(failed)
  await own.database.rows('create table trace (x int)', [])
  await failed.end()
  assert.ok(await exists(own.name))
  assert.deepEqual(failed.said, [`kept database: ${own.name}`])
  t.after(() => administer((client) => client.query(`drop database ${own.name} with (force)`)))
})
