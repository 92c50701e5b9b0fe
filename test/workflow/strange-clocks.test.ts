// Workers whose own clocks are an hour late, an hour early and 400 days ahead, in another time zone, on a database whose sessions
// have one too: leases hold, nothing comes early, no slot fires twice. Only the database's clock decides.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { administer } from '../../src/testing/database.ts'
import { until } from '../conformance/until.ts'
import { threeNodes, threeSteps } from './three-steps.ts'
import { workshop } from './workshop.ts'

const PROGRAM = fileURLToPath(new URL('three-steps.js', import.meta.url))
const HOUR_MS = 3_600_000
const SHIFTS_MS = [-HOUR_MS, HOUR_MS, 400 * 24 * HOUR_MS]
const SLOTS = 4

/** Loaded before the program: every Date of the process is off by so much. */
const shifted = (ms: number): string =>
  `data:text/javascript,${encodeURIComponent(`const Real = Date
globalThis.Date = class extends Real {
  constructor(...given) { given.length === 0 ? super(Real.now() + ${ms}) : super(...given) }
  static now() { return Real.now() + ${ms} }
}`)}`

test('workers whose clocks are wrong lose no lease, begin nothing early and fire each slot once', async (t) => {
  const { lockstep, database, sql } = await workshop(t)
  await administer((client) => client.query(`alter database ${database.name} set timezone = 'Asia/Tokyo'`))
  await sql.query('create table business (run_id text, step text)')
  const workers = SHIFTS_MS.map((ms) =>
    fork(PROGRAM, [], {
      execArgv: ['--import', shifted(ms)],
      env: {
        ...process.env,
        TZ: 'Asia/Tokyo',
        LOCKSTEP_WORKER_URL: database.connectionString,
        LOCKSTEP_WORKER_UPKEEP: '1',
        LOCKSTEP_WORKER_LEASE_MS: '20000',
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    }),
  )
  t.after(() => workers.forEach((worker) => worker.kill('SIGKILL')))
  await Promise.all(workers.map(async (worker) => once(worker, 'message')))

  const late = await threeNodes.submit(lockstep, { id: 'late' }, { delay: '1h' })
  const runs = await threeSteps.submitMany(
    lockstep,
    Array.from({ length: 20 }, (_, n) => ({ id: `${n}` })),
  )
  await lockstep.schedules.put({
    name: 'tick',
    cron: '* * * * * *',
    target: threeNodes,
    input: { id: 'tick' },
    misfire: 'all',
  })
  const slots = async (): Promise<readonly { due: number; outcome: string; run_id: string }[]> =>
    (
      await sql.query(
        'select extract(epoch from due_at)::int as due, outcome, run_id from lockstep.schedule_slot order by due_at',
      )
    ).rows
  await until('the slots have fired', async () => (await slots()).length >= SLOTS, 60_000)
  await lockstep.schedules.pause('tick')
  const fired = await slots()
  for (const [at, slot] of fired.entries()) {
    assert.equal(slot.outcome, 'fired')
    assert.equal(slot.due, (fired[0]?.due ?? 0) + at)
  }
  assert.equal(new Set(fired.map((slot) => slot.run_id)).size, fired.length)
  for (const id of [...runs.map((run) => run.id), ...fired.map((slot) => slot.run_id)]) {
    assert.equal((await lockstep.run(id).wait({ timeout: '60s' })).state, 'completed')
  }
  assert.equal((await late.status()).state, 'pending')
  const { rows } = await sql.query(
    'select max(attempt)::int as attempts, sum(crashes)::int as crashes from lockstep.node where finished_at is not null',
  )
  assert.deepEqual(rows, [{ attempts: 1, crashes: 0 }])
  const business = await sql.query('select 1 from business group by run_id, step having count(*) <> 1')
  assert.equal(business.rowCount, 0)
})
