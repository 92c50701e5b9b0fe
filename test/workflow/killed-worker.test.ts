// kill -9 of a worker's process in the middle of three-step runs with a business row per step: every row exactly once, none
// lost, with no help from anybody. Fifty rounds on every change, three hundred in a long run.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../conformance/until.ts'
import { threeNodes, threeSteps } from './three-steps.ts'
import { workshop } from './workshop.ts'

const PROGRAM = fileURLToPath(new URL('three-steps.js', import.meta.url))
const ROUNDS = process.env['LOCKSTEP_LONG'] === '1' ? 300 : 50

function startWorker(url: string): ChildProcess {
  return fork(PROGRAM, [], {
    env: { ...process.env, LOCKSTEP_WORKER_URL: url },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

test(
  `${ROUNDS} workers killed in the middle of their steps leave every business row exactly once`,
  { timeout: 600_000 },
  async (t) => {
    const { lockstep, database, sql } = await workshop(t)
    await sql.query('create table business (run_id text, step text)')
    let next = startWorker(database.connectionString)
    t.after(() => next.kill('SIGKILL'))
    const runs = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const worker = next
      runs.push(
        await threeNodes.submit(lockstep, { id: `n${round}` }),
        await threeSteps.submit(lockstep, { id: `c${round}` }),
      )
      // Nobody dies this often but here: the budget for work that kills its workers is not what is tested.
      await sql.query('update lockstep.node set crash_limit = 1000')
      // It dies at one of its first steps, written and not committed.
      const steps = 2 + (round % 5)
      for (let seen = 0; seen < steps;) {
        const [message] = await once(worker, 'message')
        if ('node' in message) seen += 1
      }
      worker.kill('SIGKILL')
      next = startWorker(database.connectionString)
      await once(worker, 'exit')
    }
    await until(
      'all runs have ended',
      async () => {
        const { rows } = await sql.query(
          'select count(*)::int as open from lockstep.node where ordinal = 0 and finished_at is null',
        )
        return rows[0].open === 0
      },
      60_000,
    )
    const { rows } = await sql.query('select run_id, step, count(*)::int as times from business group by 1, 2')
    assert.equal(rows.length, runs.length * 3)
    assert.deepEqual(
      rows.filter((row) => row.times !== 1),
      [],
    )
    for (const run of runs) assert.equal((await run.status()).state, 'completed')
    // The last one is asked to end: it does, with nothing leased.
    const last = next
    last.kill('SIGTERM')
    const [code] = await once(last, 'exit')
    assert.equal(code, 0)
    assert.equal((await sql.query('select 1 from lockstep.node where lease_expires_at is not null')).rowCount, 0)
  },
)
