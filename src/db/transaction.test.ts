// Law 6: a COMMIT is believed only from its tag. A swallowed failure, a lost connection and a cancelled wait for the standby
// are each told as what they are, and none of them as success.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPostgres } from '../embedded/start-postgres.ts'
import { LockstepError } from '../protocol/errors.ts'
import { createTestDatabase } from '../testing/database.ts'
import { endBackend } from '../testing/end-backends.ts'
import { waitFor } from '../testing/sessions.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openDatabase } from './pool.ts'
import { openTransaction, transaction } from './transaction.ts'

const code = (expected: string) => (error: unknown) => error instanceof LockstepError && error.code === expected

test('a failed statement that the work swallowed ends as not committed, never as success', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int)', [])
  await assert.rejects(
    transaction(database, async (tx) => {
      await tx.rows('insert into t values (1)', [])
      await assert.rejects(tx.rows('select 1/0', []))
    }),
    code('failed_transaction'),
  )
  const open = await openTransaction(database)
  await open.client.query('insert into t values (2)')
  await assert.rejects(open.client.query('select 1/0'))
  await assert.rejects(open.commit({ text: 'insert into t values (3)' }), code('failed_transaction'))
  await open.rollback()
  const other = await openTransaction(database)
  await assert.rejects(other.client.query('select 1/0'))
  await assert.rejects(other.commit(), code('failed_transaction'))
  assert.deepEqual(await database.rows('select * from t', []), [])
  assert.equal(database.pool.totalCount, 1)
})

test('the last statement and COMMIT travel together, and its rows come back', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false })
  await database.rows('create table t (x int)', [])
  const open = await openTransaction(database)
  await open.rows('insert into t values ($1::int)', ['1'])
  assert.deepEqual(await open.commit({ text: 'insert into t values ($1::int) returning x', params: ['2'] }), [['2']])
  assert.deepEqual(await database.rows('select x from t order by x', []), [['1'], ['2']])
  await assert.rejects(open.rows('select 1', []), code('not_a_transaction'))
  await assert.rejects(open.commit(), code('not_a_transaction'))
  await open.rollback()
})

test('an error thrown by the work rolls everything back and reaches the caller unchanged', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int)', [])
  const stop = new Error('stop')
  await assert.rejects(
    transaction(database, async (tx) => {
      await tx.rows('insert into t values (1)', [])
      throw stop
    }),
    (error) => error === stop,
  )
  assert.deepEqual(await database.rows('select * from t', []), [])
})

test('work without a statement takes no transaction', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false })
  assert.equal(await transaction(database, async () => 7), 7)
  assert.equal(database.pool.idleCount, database.pool.totalCount)
})

test('a serialization failure runs the whole work again, other failures do not', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false })
  const fail = (sqlstate: string): string => `do $$ begin raise exception using errcode = '${sqlstate}'; end $$`
  let runs = 0
  const result = await transaction(database, async (tx) => {
    runs++
    if (runs < 3) await tx.rows(fail('40001'), [])
    return runs
  })
  assert.equal(result, 3)
  runs = 0
  await assert.rejects(
    transaction(database, async (tx) => {
      runs++
      await tx.rows(fail('55P03'), [])
    }),
    code('busy'),
  )
  assert.equal(runs, 1)
  await assert.rejects(
    transaction(database, async (tx) => {
      runs++
      await tx.rows(fail('40P01'), [])
    }),
    code('busy'),
  )
  assert.equal(runs, 11)
})

test('a transaction whose backend was ended before COMMIT is unavailable, and its client is never used again', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  const open = await openTransaction(database)
  const [row] = await open.rows('select pg_backend_pid()', [])
  await endBackend(row?.[0] ?? '')
  await assert.rejects(open.commit(), (error) => {
    return error instanceof LockstepError && (error.code === 'unavailable' || error.code === 'outcome_unknown')
  })
  await open.rollback()
  const [next] = await database.rows('select pg_backend_pid()', [])
  assert.notEqual(next?.[0], row?.[0])
})

test('a transaction opened on a connection that was closed while it lay idle is opened on another one, unseen', async (t) => {
  const own = await createTestDatabase(t, { migrated: false, connections: 1 })
  for (let round = 0; round < 30; round++) {
    const open = await openTransaction(own.database)
    const [row] = await open.rows('select pg_backend_pid()', [])
    await open.rollback()
    await endBackend(row?.[0] ?? '')
  }
})

test('a commit whose wait for the standby was cancelled is unknown, by COMMIT and by itself', async (t) => {
  const folder = temporaryFolder('standby')
  t.after(() => folder.remove())
  const server = await startPostgres({
    home: join(folder.path, 'server'),
    fast: true,
    settings: { synchronous_standby_names: 'nobody', synchronous_commit: 'local' },
  })
  t.after(() => server.stop())
  const plain = openDatabase({ connectionString: server.connectionString })
  await plain.rows('create table t (x int)', [])
  const waiting = new URL(server.connectionString)
  waiting.searchParams.set('options', '-c synchronous_commit=on')
  const database = openDatabase({ connectionString: waiting.href })
  const cancel = async (): Promise<void> => {
    await waitFor('a backend to wait for the standby', async () => {
      const rows = await plain.rows(
        `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
        [],
      )
      return rows.length > 0
    })
  }

  const single = database.rows('insert into t values (1)', [])
  await Promise.all([assert.rejects(single, code('outcome_unknown')), cancel()])
  const whole = transaction(database, (tx) => tx.rows('insert into t values (2)', []))
  await Promise.all([assert.rejects(whole, code('outcome_unknown')), cancel()])
  assert.deepEqual(await plain.rows('select x from t order by x', []), [['1'], ['2']])
  await Promise.all([database.close(), plain.close()])
})
