import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockstepError } from '../protocol/errors.ts'
import { createTestDatabase } from '../testing/database.ts'
import { beginLazily, type OpenTransaction } from './transaction.ts'

const BACKEND =
  'select pg_backend_pid() as pid, xact_start <> query_start as begun from pg_stat_activity where pid = pg_backend_pid()'

async function rowsOf(answer: unknown): Promise<readonly Record<string, unknown>[]> {
  const result: unknown = await answer
  const rows: unknown = typeof result === 'object' && result !== null ? Reflect.get(result, 'rows') : null
  assert.ok(Array.isArray(rows))
  return rows
}

test('the first statement of a lazily begun transaction runs in it, whatever form it has', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int)', [])
  const forms: readonly ((open: OpenTransaction) => unknown)[] = [
    (open) => open.query('insert into t values ($1) returning x', [1]),
    (open) => open.query({ text: 'insert into t values ($1) returning x', values: [2] }),
    (open) => open.query('insert into t values (3) returning x'),
    (open) => open.query({ text: 'insert into t values ($1) returning x', values: [4], name: 'named' }),
    (open) =>
      new Promise((resolve, reject) => {
        open.query('insert into t values ($1) returning x', [5], (error: unknown, result: unknown) =>
          error instanceof Error ? reject(error) : resolve(result),
        )
      }),
  ]
  for (const [at, form] of forms.entries()) {
    const undone = await beginLazily(database, null)
    assert.equal(undone.status(), 'T')
    assert.deepEqual(await rowsOf(form(undone)), [{ x: at + 1 }])
    await undone.rollback()
    const open = await beginLazily(database, null)
    await form(open)
    await open.commit({ text: 'select 1' })
  }
  assert.deepEqual(await database.rows('select x from t order by x', []), [['1'], ['2'], ['3'], ['4'], ['5']])
})

test('statements that are given at once run in one transaction, in their order', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (n int generated always as identity, x int)', [])
  for (const first of ['insert into t (x) values ($1)', 'insert into t (x) select 1']) {
    const open = await beginLazily(database, null)
    const values = first.includes('$1') ? [[1]] : []
    await Promise.all([
      open.query(first, ...values),
      open.query('insert into t (x) values ($1)', [2]),
      open.query('insert into t (x) values (3)'),
      open.rows('insert into t (x) values (4)', []),
    ])
    const [seen] = await rowsOf(open.query(BACKEND))
    assert.equal(seen?.['begun'], true)
    await open.commit()
  }
  assert.deepEqual(
    (await database.rows('select x from t order by n', [])).map(([x]) => x),
    ['1', '2', '3', '4', '1', '2', '3', '4'],
  )
})

test('when the first statement fails nothing of the transaction is committed', async (t) => {
  const { database } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int)', [])
  for (const bad of [['select 1 / $1::int', [0]], ['select 1/0']] as const) {
    const open = await beginLazily(database, null)
    await assert.rejects(async () => open.query(...bad))
    await assert.rejects(async () => open.query('insert into t values ($1)', [1]))
    await assert.rejects(open.commit({ text: 'insert into t values (2)' }))
    await open.rollback()
  }
  const throughDoor = await beginLazily(database, null)
  await assert.rejects(throughDoor.rows('select 1/0', []))
  await assert.rejects(throughDoor.rows('insert into t values (3)', []))
  await throughDoor.rollback()
  assert.deepEqual(await database.rows('select x from t', []), [])
})

test('a transaction that was not begun runs no statement', async (t) => {
  const { database, connect } = await createTestDatabase(t, { migrated: false, connections: 1 })
  await database.rows('create table t (x int)', [])
  const other = await connect()
  for (const first of [['insert into t values ($1)', [1]], ['insert into t values (1)']] as const) {
    const [row] = await database.rows('select pg_backend_pid()::text', [])
    const open = await beginLazily(database, null)
    await other.query('select pg_terminate_backend($1::int, 5000)', [row?.[0]])
    await assert.rejects(async () => open.query(...first))
    await assert.rejects(async () => open.query('insert into t values ($1)', [2]))
    await assert.rejects(open.commit({ text: 'insert into t values (3)' }), (error) => error instanceof LockstepError)
    await open.rollback()
  }
  assert.deepEqual(await database.rows('select x from t', []), [])
})
