// A worker that is stopped and goes on later (SIGSTOP, SIGCONT), in the middle of steps that have written and not committed: for half
// a lease, or for long enough that another has taken over. Whatever it still reports, each business row is there once.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../conformance/until.ts'
import { threeNodes, threeSteps } from './three-steps.ts'
import { workshop } from './workshop.ts'

const PROGRAM = fileURLToPath(new URL('three-steps.js', import.meta.url))
const ROUNDS = process.env['LOCKSTEP_LONG'] === '1' ? 200 : 20
const LEASE_MS = 200
/** Of lease times. */
const STOPS = [0.5, 1, 2, 3]

test(
  `${ROUNDS} times a worker stands still in the middle of a step: no row is doubled, none is lost`,
  { timeout: 600_000 },
  async (t) => {
    const { lockstep, database, sql } = await workshop(t)
    await sql.query('create table business (run_id text, step text)')
    const start = (): ChildProcess => {
      const child = fork(PROGRAM, [], {
        env: {
          ...process.env,
          LOCKSTEP_WORKER_URL: database.connectionString,
          LOCKSTEP_WORKER_LEASE_MS: String(LEASE_MS),
        },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      t.after(() => child.kill('SIGKILL'))
      return child
    }
    const workers = [start(), start()]
    await Promise.all(workers.map(async (worker) => once(worker, 'message')))
    const runs = []
    for (let round = 0; round < ROUNDS; round += 1) {
      // Whichever worker has written first stands still.
      const first = Promise.race(workers.map(async (worker) => once(worker, 'message').then(() => worker)))
      runs.push(
        await threeNodes.submit(lockstep, { id: `n${round}` }),
        await threeSteps.submit(lockstep, { id: `c${round}` }),
      )
      // Standing still often is what is tested, not the budget for work that kills its workers.
      await sql.query('update lockstep.node set crash_limit = 1000 where finished_at is null')
      const stopped = await first
      stopped.kill('SIGSTOP')
      await sleep(LEASE_MS * (STOPS[round % STOPS.length] ?? 1))
      stopped.kill('SIGCONT')
    }
    await until(
      'all runs have ended',
      async () => (await sql.query('select 1 from lockstep.node where finished_at is null')).rowCount === 0,
      60_000,
    )
    const { rows } = await sql.query('select run_id, step, count(*)::int as times from business group by 1, 2')
    assert.equal(rows.length, runs.length * 3)
    assert.deepEqual(
      rows.filter((row) => row.times !== 1),
      [],
    )
    for (const run of runs) assert.equal((await run.status()).state, 'completed')
    assert.equal((await sql.query('select 1 from lockstep.node where lease_expires_at is not null')).rowCount, 0)
  },
)
