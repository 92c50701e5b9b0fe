// The shared suite on its library, and what only it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazily } from '../../src/db/lazily.ts'
import { adapterSuite } from './adapter-suite.ts'
import { openGround } from './ground.ts'
import { knexSubject } from './subjects/knex.ts'

adapterSuite('knex', knexSubject)

test('knex: a step whose transaction the handler ended by itself is not believed', async (t) => {
  const { subject, finished } = await openGround(t, knexSubject)
  for (const end of ['commit', 'rollback'] as const) {
    const lazy = lazily(subject.completion, { timeoutMs: 10_000 })
    const { tx } = await lazy.open()
    await tx[end]()
    await assert.rejects(
      lazy.commit(async (door) => door.text('select finish($1::text, $1::text) as r', [end])),
      { code: 'not_a_transaction', message: /leave that to Lockstep/ },
    )
    assert.deepEqual(await finished(end), [])
  }
})

test('knex: an error of ours has no value of the statement in its message', async (t) => {
  const { subject } = await openGround(t, knexSubject)
  await assert.rejects(
    subject.transaction(async (tx) =>
      subject.completion.door(tx).text('select ($1::text)::int::text as r', ['secret?']),
    ),
    (error) => error instanceof Error && error.message.startsWith('invalid input syntax for type integer'),
  )
})
