// The heartbeat's thread: a blocked event loop does not lose its leases, a hung process lets them go, and neither bundlers nor
// odd connection settings break it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { Pool } from 'pg'
import { Lockstep, action } from 'lockstep'
import { z } from 'zod'
import { createTestDatabase } from '../../src/testing/database.ts'
import { workshop } from './workshop.ts'

const block = action({ name: 'block', input: z.object({ ms: z.number() }) }, (ctx, { ms }) => {
  const end = performance.now() + ms
  while (performance.now() < end);
  return ctx.attempt
})

test('a loop that is blocked for three leases keeps its claim', async (t) => {
  const { lockstep, worker } = await workshop(t)
  await worker({ actions: [block], lease: '600ms' })
  const run = await block.enqueue(lockstep, { ms: 2_000 })
  assert.equal(await run.result({ timeout: '20s' }), 1)
})

test('a process that stands still for longer than maxStall lets its claims go', async (t) => {
  const { lockstep, worker, sql, warnings } = await workshop(t)
  const running = await worker({ actions: [block], lease: '400ms', maxStall: '200ms' })
  const run = await block.enqueue(lockstep, { ms: 1_500 })
  await run.wait({ timeout: '2s' }).catch(() => {})
  await running.stop({ drain: '10ms' })
  const { rows } = await sql.query(
    `select attempt, state, lease_expires_at < now() as lapsed from lockstep.node where run_id = $1`,
    [run.id],
  )
  assert.ok(rows[0].attempt > 1 || rows[0].lapsed !== false, JSON.stringify(rows))
  assert.ok(
    warnings.some((line) => line.includes('stood still')),
    warnings.join('\n'),
  )
})

test('with the application’s own pool the beat runs on the main loop, and that is said', async (t) => {
  const database = await createTestDatabase(t)
  const pool = new Pool({ connectionString: database.connectionString, max: 5 })
  // Its last connections may still be closing when the database is dropped.
  pool.on('error', () => {})
  const said: string[] = []
  const lockstep = new Lockstep({ pool, logger: { warn: (_, message) => said.push(message) } })
  const nap = action({ name: 'nap', input: z.object({}) }, async (ctx) => {
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    return ctx.attempt
  })
  const worker = lockstep.worker({ actions: [nap], lease: '400ms', poll: '20ms' })
  await worker.start()
  assert.equal(await (await nap.enqueue(lockstep, {})).result({ timeout: '10s' }), 1)
  assert.ok(said.some((line) => /heartbeat runs on the main loop/.test(line)))
  await lockstep.close()
  await pool.end()
})

for (const format of ['esm', 'cjs'] as const) {
  test(`a worker bundled as ${format} keeps its claim while its loop is blocked`, async (t) => {
    const database = await createTestDatabase(t)
    const here = fileURLToPath(new URL('.', import.meta.url))
    const folder = await mkdtemp(join(here, `bundle-${format}-`))
    t.after(async () => rm(folder, { recursive: true, force: true }))
    const outfile = join(folder, `worker.${format === 'esm' ? 'mjs' : 'cjs'}`)
    const banner =
      format === 'esm'
        ? { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" }
        : {}
    await build({
      entryPoints: [join(here, 'blocking-worker.js')],
      bundle: true,
      platform: 'node',
      format,
      outfile,
      banner,
      external: ['pg-native'],
      logLevel: 'silent',
    })
    const env = { ...process.env, LOCKSTEP_WORKER_URL: database.connectionString }
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env, timeout: 40_000 })
    assert.match(stdout, /attempt 1/)
  })
}
