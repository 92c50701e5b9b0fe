// The pool as an executor: what crosses, under which settings, and what becomes of clients that met an error.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Pool, types } from 'pg'
import { startPostgres } from '../embedded/start-postgres.ts'
import { LockstepError } from '../protocol/errors.ts'
import { administer, createTestDatabase } from '../testing/database.ts'
import { endBackend } from '../testing/end-backends.ts'
import { openSessions, waitFor, waitUntilBlocked } from '../testing/sessions.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openDatabase } from './pool.ts'

const code = (expected: string) => (error: unknown) => error instanceof LockstepError && error.code === expected

test('every column comes back as text, whatever the type parsers of the process say', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false })
  const parser = types.getTypeParser(types.builtins.INT8)
  types.setTypeParser(types.builtins.INT8, () => 'parsed')
  t.after(() => types.setTypeParser(types.builtins.INT8, parser))
  const rows = await database.rows(`select 9007199254740993::int8, true, null, array['a','b'], '{"a": 1}'::json, $1`, [
    null,
  ])
  assert.deepEqual(rows, [['9007199254740993', 't', null, '{a,b}', '{"a": 1}', null]])
})

test('each call commits by itself, and a failed one leaves nothing and a usable client', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int primary key)', [])
  await database.rows('insert into t values (1)', [])
  await assert.rejects(database.rows('insert into t values (2), (1)', []), code('internal'))
  assert.deepEqual(await database.rows('select x from t', []), [['1']])
  assert.equal(database.pool.totalCount, 1)
})

test('a deferred constraint that fails at COMMIT is a failure', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int unique deferrable initially deferred)', [])
  await assert.rejects(database.rows('insert into t values (1), (1)', []), (error) => {
    return error instanceof LockstepError && error.details['sqlstate'] === '23505'
  })
  assert.deepEqual(await database.rows('select * from t', []), [])
})

test('isolation, access and time limits are the ones we name, not those of the role or the database', async (t) => {
  const { name, database, connectionString } = await createTestDatabase(t, { migrated: false })
  for (const setting of [
    `default_transaction_isolation = 'serializable'`,
    'default_transaction_read_only = on',
    `lock_timeout = '7h'`,
    `statement_timeout = '7h'`,
  ]) {
    await administer((client) => client.query(`alter database ${name} set ${setting}`))
  }
  const fresh = openDatabase({ connectionString, lockTimeoutMs: 1234, statementTimeoutMs: 5678 })
  t.after(() => fresh.close())
  const settings = `select current_setting('transaction_isolation'), current_setting('transaction_read_only'),
    current_setting('lock_timeout'), current_setting('statement_timeout')`
  assert.deepEqual(await fresh.rows(settings, []), [['read committed', 'off', '1234ms', '5678ms']])
  assert.deepEqual(await fresh.reader.rows(settings, []), [['read committed', 'on', '1234ms', '5678ms']])
  await assert.rejects(fresh.reader.rows('create table t (x int)', []), code('read_only_transaction'))
  // Nothing of it stays on the session: a pooler may give it to somebody else next.
  const client = await fresh.pool.connect()
  assert.equal((await client.query('show lock_timeout')).rows[0]?.lock_timeout, '7h')
  client.release()
  await database.close()
})

test('a row that somebody holds is waited for up to the lock timeout, then busy', async (t) => {
  const own = await createTestDatabase(t, { migrated: false, lockTimeoutMs: 50 })
  await own.database.rows('create table t (x int)', [])
  await own.database.rows('insert into t values (1)', [])
  const { holder } = await openSessions(own, ['holder'])
  await holder.run('begin')
  await holder.run('update t set x = 2')
  await assert.rejects(own.database.rows('update t set x = 3', []), code('busy'))
  await holder.run('rollback')
  await own.database.rows('update t set x = 3', [])
})

test('a statement past its limit is a timeout, and the client is used again', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1, statementTimeoutMs: 50 })
  await assert.rejects(database.rows('select pg_sleep(60)', []), code('timeout'))
  assert.deepEqual(await database.rows('select 1', []), [['1']])
  assert.equal(database.pool.totalCount, 1)
})

test('a deadlock between two calls is retried until both have succeeded', async (t) => {
  const own = await createTestDatabase(t, { migrated: false, lockTimeoutMs: 20_000 })
  await own.database.rows('create table t (id int primary key, n int)', [])
  await own.database.rows('insert into t values (1, 0), (2, 0)', [])
  const { holder } = await openSessions(own, ['holder'])
  const rival = `do $$ begin
    update t set n = n + 1 where id = 2;
    update t set n = n + 1 where id = 1;
  end $$`
  // The holder keeps row 1 until the rival holds row 2 and waits, then asks for row 2: whoever is chosen as the victim.
  await holder.run('begin')
  await holder.run('update t set n = n + 1 where id = 1')
  const called = own.database.rows(rival, [])
  await waitUntilBlocked(own, 1)
  const held = await holder.run('update t set n = n + 1 where id = 2')
  await holder.run('error' in held ? 'rollback' : 'commit')
  await called
  const won = 'error' in held ? '1' : '2'
  assert.deepEqual(await own.database.rows('select id, n from t order by id', []), [
    ['1', won],
    ['2', won],
  ])
  await waitFor('the deadlock to be counted', async () => {
    const rows = await own.database.reader.rows(
      'select deadlocks from pg_stat_database where datname = current_database()',
      [],
    )
    return rows[0]?.[0] === '1'
  })
})

test('a client whose backend was ended is thrown away, idle or at work, and the pool goes on', async (t) => {
  const lost: Error[] = []
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const database = openDatabase({ connectionString, connections: 2, onConnectionLost: (error) => lost.push(error) })
  t.after(() => database.close())
  const pid = async (): Promise<string> => (await database.rows('select pg_backend_pid()', []))[0]?.[0] ?? ''

  const idle = await pid()
  await endBackend(idle)
  await waitFor('the idle client to be noticed', () => lost.length === 1)
  const next = await pid()
  assert.notEqual(next, idle)

  const sleeping = assert.rejects(database.rows('select pg_sleep(60)', []), code('unavailable'))
  await waitFor('the statement to run', async () => {
    const { rowCount } = await administer((client) =>
      client.query(`select 1 from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'`, [next]),
    )
    return rowCount === 1
  })
  await endBackend(next)
  await sleeping
  assert.notEqual(await pid(), next)
})

test('a server that cannot be reached is unavailable, a wrong password and a missing database too', async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const wrong = (change: (url: URL) => void): string => {
    const url = new URL(connectionString)
    change(url)
    return url.href
  }
  for (const url of [
    wrong((u) => (u.port = '1')),
    wrong((u) => (u.password = 'no')),
    wrong((u) => (u.pathname = '/none')),
  ]) {
    const database = openDatabase({ connectionString: url })
    await assert.rejects(database.rows('select 1', []), code('unavailable'))
    await database.close()
  }
})

test('a standby is unavailable for writing, and its client is given up so that the next may reach the primary', async (t) => {
  const folder = temporaryFolder('hot-standby')
  t.after(() => folder.remove())
  const home = join(folder.path, 'server')
  const first = await startPostgres({ home, fast: true })
  await first.stop()
  writeFileSync(join(first.dataDir, 'standby.signal'), '')
  const standby = await startPostgres({ home, fast: true })
  t.after(() => standby.stop())
  const database = openDatabase({ connectionString: standby.connectionString })
  await assert.rejects(database.rows('select 1', []), code('unavailable'))
  assert.equal(database.pool.totalCount, 0)
  assert.deepEqual(await database.reader.rows('select pg_is_in_recovery()', []), [['t']])
  await database.close()
})

test("the application's own pool is used as it is, and not ended", async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const pool = new Pool({ connectionString, max: 2 })
  const database = openDatabase({ pool })
  assert.deepEqual(await database.rows('select $1::text', ['x']), [['x']])
  assert.equal(pool.listenerCount('error'), 1)
  await database.close()
  await database.close()
  assert.equal(pool.listenerCount('error'), 0)
  assert.equal((await pool.query('select 1 as one')).rows[0]?.one, 1)
  await pool.end()
})

test('a pool that cannot carry our round trips is refused with the reason', async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const pool = new Pool({ connectionString, pipeline: true })
  await assert.rejects(openDatabase({ pool }).rows('select 1', []), /pipeline/)
  await pool.end()
})

test('after close every call is refused as closed', async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const database = openDatabase({ connectionString })
  await database.close()
  await assert.rejects(database.rows('select 1', []), code('closed'))
})
