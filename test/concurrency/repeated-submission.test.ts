// A submission that was sent twice: its repeat may come while the first is not committed yet, and makes the same runs once.
import assert from 'node:assert/strict'
import test from 'node:test'
import { submit } from '../../src/operations/submit.ts'
import type { OutgoingRun } from '../../src/protocol/run.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { inTransaction, interleave } from '../kit/interleave.ts'
import { runOf } from '../kit/run-world.ts'
import { deadlocks } from '../kit/soundness.ts'

for (const [kind, made] of [
  ['plain jobs', (name: string) => runOf(name)],
  ['runs with more than that', (name: string) => runOf(name, { tags: ['t'] })],
] as const) {
  test(`${kind} that are submitted again before the first submission is committed are made once`, async (t) => {
    const own = await createTestDatabase(t)
    const again = async (runs: readonly OutgoingRun[]): Promise<number> => {
      const { rowCount } = await own.database.pool.query('select 1 from lockstep.node where run_id = any ($1)', [
        runs.map(({ runId }) => runId),
      ])
      return rowCount ?? 0
    }
    const orders = await interleave<readonly OutgoingRun[]>(own, {
      name: 'a submission and its repeat',
      setup: (_own, nth) => Promise.resolve([made(`job${nth}`), made(`job${nth}`)]),
      sessions: [inTransaction(({ db }, runs) => submit(db, runs)), [({ db }, runs) => submit(db, runs)]],
      async check(runs, told) {
        const answer = runs.map(({ runId }) => ({ runId, created: true, differs: false }))
        assert.deepEqual(told.flat().slice(0, 1), [{ value: answer }])
        assert.deepEqual(told[1], [{ value: answer }])
        assert.equal(await again(runs), 2)
      },
    })
    assert.equal(orders, 3)
    assert.equal(await deadlocks(own), 0)
  })
}

test('one id twice in one submission is one run', async (t) => {
  const own = await createTestDatabase(t)
  const job = runOf('job')
  const answers = await submit(own.database, [job, job])
  assert.deepEqual(
    answers.map(({ runId, created }) => [runId, created]),
    [
      [job.runId, true],
      [job.runId, true],
    ],
  )
  const { rows } = await own.database.pool.query('select count(*)::int as n from lockstep.node')
  assert.deepEqual(rows, [{ n: 1 }])
})
