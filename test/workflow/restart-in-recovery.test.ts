// The database stops at once in the middle of a recovery: a worker takes over what a dead one had claimed, and PostgreSQL goes down
// under it. Nothing keeps a list of what was to be recovered, so nothing is dropped: all is found again and done once.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { action, Lockstep } from 'lockstep'
import pg from 'pg'
import { z } from 'zod'
import { startPostgres } from '../../src/embedded/start-postgres.ts'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'
import { until } from '../conformance/until.ts'

const CLAIMED = 250

test('a restart of the database in the middle of a recovery drops nothing: each run has one committed effect', async (t) => {
  const folder = temporaryFolder('recovery')
  t.after(() => folder.remove())
  const home = join(folder.path, 'server')
  let server = await startPostgres({ home, fast: true })
  t.after(async () => server.stop())
  const { port, connectionString } = server
  const warnings: string[] = []
  const lockstep = new Lockstep({ connectionString, logger: { warn: (_, message) => void warnings.push(message) } })
  t.after(async () => lockstep.close({ timeoutMs: 1_000 }))
  await lockstep.migrate()
  const sql = new pg.Pool({ connectionString, max: 2 })
  sql.on('error', () => {})
  t.after(async () => sql.end())
  await sql.query('create table effect (n int)')
  const job = action({ name: 'job', input: z.object({ n: z.number() }) }, async (ctx, { n }) => {
    const tx = await ctx.completionTx()
    await tx.query('insert into effect values ($1)', [n])
  })
  await job.enqueueMany(
    lockstep,
    Array.from({ length: CLAIMED }, (_, n) => ({ n })),
  )
  // A process that claimed them all and was killed.
  await sql.query(`select count(*) from lockstep.claim_joined('{job}', 'killed', 1, $1, '-infinity')`, [CLAIMED])

  const worker = lockstep.worker({ actions: [job], concurrency: 8, lease: '2s', poll: '20ms' })
  await worker.start()
  const done = async (): Promise<number> =>
    Number((await sql.query('select count(*) from lockstep.node where finished_at is not null')).rows[0].count)
  await until('the recovery has begun', async () => (await done()) > 0)
  process.kill(server.pid, 'SIGQUIT')
  await until('the worker has met the outage', () => !worker.status().healthy)
  server = await startPostgres({ home, port, fast: true })
  await until('all have ended', async () => (await done().catch(() => 0)) === CLAIMED, 60_000)

  const { rows } = await sql.query('select count(*)::int as effects, count(distinct n)::int as jobs from effect')
  assert.deepEqual(rows, [{ effects: CLAIMED, jobs: CLAIMED }])
  const open = "select 1 from lockstep.node where state <> 'done' or lease_expires_at is not null"
  assert.equal((await sql.query(open)).rowCount, 0)
  await until('the worker is well again', () => worker.status().healthy)
  assert.ok(warnings.length > 0)
})
