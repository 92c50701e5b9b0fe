// The shared suite on its library, and what only it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lazily } from '../../src/db/lazily.ts'
import { endBackend } from '../../src/testing/end-backends.ts'
import { until } from '../conformance/until.ts'
import { adapterSuite } from './adapter-suite.ts'
import { backendOf, openGround } from './ground.ts'
import { postgresJsSubject } from './subjects/postgres-js.ts'

adapterSuite('postgres.js', postgresJsSubject)

test('postgres.js: a step that goes on after its connection was closed is refused and does not end the process', async (t) => {
  const ground = await openGround(t, postgresJsSubject)
  const { subject, beside, finished } = ground
  const lazy = lazily(subject.completion, { timeoutMs: 10_000 })
  const { tx } = await lazy.open()
  const pid = await backendOf(ground, tx)
  await endBackend(pid)
  await until('the backend has gone', async () => {
    return (await beside.query('select 1 from pg_stat_activity where pid = $1', [pid])).rowCount === 0
  })
  await until('the library knows', async () => {
    try {
      await tx`select 1`
      return false
    } catch (error) {
      return error instanceof Error && /was closed/.test(error.message)
    }
  })
  assert.throws(() => tx.unsafe('select 1'), { code: 'unavailable' })
  await assert.rejects(lazy.commit(async (door) => door.text('select finish($1::text, $1::text) as r', ['gone'])))
  await lazy.abort()
  assert.deepEqual(await finished('gone'), [])
})
