// The shared suite on its library, and what only it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MikroORM } from '@mikro-orm/postgresql'
import { mikroTx } from 'lockstep/mikro-orm'
import { adapterSuite } from './adapter-suite.ts'
import { openGround } from './ground.ts'
import { mikroSubject } from './subjects/mikro-orm.ts'

adapterSuite('mikro-orm', mikroSubject)

test('mikro-orm: a transaction that was begun by hand is joined, between its begin and its end', async (t) => {
  const { lockstep, texts, database } = await openGround(t, mikroSubject)
  const orm = await MikroORM.init({
    entities: [],
    clientUrl: database.connectionString,
    discovery: { warnWhenNoEntities: false },
  })
  t.after(() => orm.close())
  const em = orm.em.fork()
  assert.throws(() => mikroTx(em), { code: 'not_a_transaction' })
  await em.begin()
  const joined = lockstep.in(mikroTx(em))
  await joined.queue('q').push({ data: 'by hand' })
  await em.commit()
  await assert.rejects(joined.queue('q').push({ data: 'late' }), { code: 'not_a_transaction' })
  assert.deepEqual(await texts('q'), ['"by hand"'])
})
