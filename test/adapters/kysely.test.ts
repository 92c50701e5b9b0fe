// The shared suite on its library, and what only it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Kysely, PostgresDialect } from 'kysely'
import { kyselyTx } from 'lockstep/kysely'
import { Pool } from 'pg'
import { adapterSuite } from './adapter-suite.ts'
import { openGround } from './ground.ts'
import { kyselySubject } from './subjects/kysely.ts'

adapterSuite('kysely', kyselySubject)

test('kysely: a controlled transaction is joined, its own savepoints undo what was said, and its end is known', async (t) => {
  const { lockstep, texts, database } = await openGround(t, kyselySubject)
  const pool = new Pool({ connectionString: database.connectionString })
  pool.on('error', () => {})
  const db = new Kysely<object>({ dialect: new PostgresDialect({ pool }) })
  t.after(() => db.destroy())
  const trx = await db.startTransaction().execute()
  await lockstep.in(kyselyTx(trx)).queue('q').push({ data: 'kept' })
  const inner = await trx.savepoint('one').execute()
  await lockstep.in(kyselyTx(inner)).queue('q').push({ data: 'undone' })
  await inner.rollbackToSavepoint('one').execute()
  const joined = lockstep.in(kyselyTx(trx))
  await trx.commit().execute()
  assert.deepEqual(await texts('q'), ['"kept"'])
  assert.throws(() => kyselyTx(trx), { code: 'not_a_transaction', message: /ended/ })
  await assert.rejects(joined.queue('q').push({ data: 'late' }), { code: 'not_a_transaction' })
})
