// The shared suite on its library, and what only it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typeormTx } from 'lockstep/typeorm'
import { DataSource } from 'typeorm'
import { adapterSuite } from './adapter-suite.ts'
import { openGround } from './ground.ts'
import { typeormSubject } from './subjects/typeorm.ts'

adapterSuite('typeorm', typeormSubject)

test("typeorm: a query runner's transaction is joined by its manager, between its start and its end", async (t) => {
  const { lockstep, texts, database } = await openGround(t, typeormSubject)
  const source = new DataSource({ type: 'postgres', url: database.connectionString })
  await source.initialize()
  t.after(() => source.destroy())
  const runner = source.createQueryRunner()
  assert.throws(() => typeormTx(runner.manager), { code: 'not_a_transaction', message: /without an open/ })
  await runner.startTransaction('REPEATABLE READ')
  const joined = lockstep.in(typeormTx(runner.manager))
  await joined.queue('q').push({ data: 'by hand' })
  await runner.commitTransaction()
  await assert.rejects(joined.queue('q').push({ data: 'late' }), { code: 'not_a_transaction' })
  await runner.release()
  assert.deepEqual(await texts('q'), ['"by hand"'])
})
