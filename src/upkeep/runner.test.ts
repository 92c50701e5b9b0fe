// The runner: nothing is done by a leader, nothing is lost by a failure, and start and stop mean it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '../db/pool.ts'
import { createTestDatabase } from '../testing/database.ts'
import { waitFor } from '../testing/sessions.ts'
import type { Job } from './job.ts'
import { Upkeep, type UpkeepReport } from './runner.ts'

const idle = { rows: async () => [] }

test('a failed step leaves its work due, is told, and does not keep the other jobs from running', async () => {
  let attempts = 0
  let others = 0
  const failing: Job = {
    name: 'failing',
    pauseMs: 5,
    async step() {
      attempts++
      if (attempts < 3) throw new Error('not now')
      return { done: attempts === 3 ? 7 : 0, more: false }
    },
  }
  const other: Job = {
    name: 'other',
    pauseMs: 5,
    async step() {
      others++
      return { done: 0, more: false }
    },
  }
  const reports: UpkeepReport[] = []
  const upkeep = new Upkeep({ db: idle, jobs: [failing, other], onReport: (report) => reports.push(report) })
  upkeep.start()
  await waitFor('the work to be done', () => reports.some((report) => report.done === 7))
  await upkeep.stop()
  const own = reports.filter((report) => report.job === 'failing')
  assert.match(String(own[0]?.error), /not now/)
  assert.match(String(own[1]?.error), /not now/)
  assert.equal(own[2]?.error, null)
  assert.ok(others >= 1)
})

test('start twice runs once, stop waits for the step in flight, and after it nothing runs', async () => {
  let running = 0
  let most = 0
  let release = (): void => {}
  const job: Job = {
    name: 'slow',
    pauseMs: 1,
    async step() {
      running++
      most = Math.max(most, running)
      await new Promise<void>((resolve) => (release = resolve))
      running--
      return { done: 0, more: true }
    },
  }
  const upkeep = new Upkeep({ db: idle, jobs: [job] })
  upkeep.start()
  upkeep.start()
  await waitFor('a step', () => running === 1)
  let stopped = false
  const stopping = upkeep.stop().then(() => (stopped = true))
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(stopped, false)
  release()
  await stopping
  await upkeep.stop()
  assert.equal(most, 1)
  assert.equal(running, 0)
  upkeep.start()
  await waitFor('a step after a new start', () => running === 1)
  release()
  await upkeep.stop()
})

test('four processes at once do all of the work once, without an error and without a deadlock', async (t) => {
  const own = await createTestDatabase(t)
  await own.database.rows(
    `select lockstep.push('q' || n % 7, json_build_object('n', n), 'p' || n % 5) from generate_series(1, 3000) n`,
    [],
  )
  await own.database.rows(
    `insert into lockstep.request (id, body_hash, result, expires_at)
     select 'r' || n, 'h', '{}', lockstep.clock() - interval '1 s' from generate_series(1, 3000) n`,
    [],
  )
  const reports: UpkeepReport[] = []
  const placed = new Set<string>()
  const processes = Array.from({ length: 4 }, () => {
    const db = openDatabase({ connectionString: own.connectionString, connections: 1 })
    const upkeep = new Upkeep({
      db,
      onPlaced: (queue) => placed.add(queue),
      onReport: (report) => reports.push(report),
    })
    upkeep.start()
    upkeep.start()
    return { db, upkeep }
  })
  const left = `select (select count(*) from lockstep.staged), (select count(*) from lockstep.message),
    (select count(*) from lockstep.request)`
  await waitFor('all work to be done', async () => {
    const [row] = await own.database.rows(left, [])
    return row?.[0] === '0' && row[2] === '0'
  })
  await Promise.all(processes.map(({ upkeep }) => upkeep.stop()))
  await Promise.all(processes.map(({ db }) => db.close()))
  assert.deepEqual(await own.database.rows(left, []), [['0', '3000', '0']])
  assert.deepEqual(
    reports.filter((report) => report.error !== null),
    [],
  )
  assert.equal(placed.size, 7)
  const sum = (job: string): number => reports.filter((one) => one.job === job).reduce((a, one) => a + one.done, 0)
  assert.equal(sum('place_staged'), 3000)
  assert.equal(sum('expire_requests'), 3000)
  const gaps = await own.database.rows(
    `select count(*) from lockstep.partition p where next_offset <>
       (select count(*) from lockstep.message m where m.queue_id = p.queue_id and m.partition_id = p.id)`,
    [],
  )
  assert.deepEqual(gaps, [['0']])
})
