// Waiting for runs: many waiters and few connections, hints that are lost, a worker that stops, a database that goes away in the
// moment when handlers finish.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep, action, workflow } from 'lockstep'
import { z } from 'zod'
import { startProxy } from '../../src/testing/proxy.ts'
import { gate, until } from '../conformance/until.ts'
import { workshop } from './workshop.ts'

const N = z.object({ n: z.number() })

test('two thousand waiters over five connections leave room for other calls, and all are told', async (t) => {
  const { lockstep, another, sql } = await workshop(t, 5)
  const job = action({ name: 'job', input: N }, (_ctx, { n }) => n)
  const runs = []
  for (let batch = 0; batch < 4; batch += 1) {
    runs.push(
      ...(await job.enqueueMany(
        lockstep,
        Array.from({ length: 500 }, (_, n) => ({ n: batch * 500 + n })),
      )),
    )
  }
  const waiting = Promise.all(runs.map(async (run) => run.result({ timeout: '60s' })))
  const slowest: number[] = []
  for (let call = 0; call < 50; call += 1) {
    const began = performance.now()
    await lockstep.kv.get('any', 'key')
    slowest.push(performance.now() - began)
  }
  assert.ok((slowest.toSorted((a, b) => b - a)[0] ?? 0) < 1_000, `${slowest.toSorted((a, b) => b - a)[0]} ms`)
  // In another client: this one hears of the ends by its poll and by hints.
  await another(5)
    .worker({ actions: [job], concurrency: 20 })
    .start()
  await sql.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lockstep-listen'`)
  assert.deepEqual(
    await waiting,
    runs.map((_, n) => n),
  )
})

test('a waiter that gives up frees its place, and a timeout is told', async (t) => {
  const { lockstep } = await workshop(t)
  const job = action({ name: 'job', input: N }, () => null)
  const run = await job.enqueue(lockstep, { n: 1 })
  await assert.rejects(run.wait({ timeout: '50ms' }), { code: 'wait_timeout' })
  const stop = new AbortController()
  const waiting = run.wait({ signal: stop.signal })
  stop.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
})

test('a stop lets handlers finish, hands back the rest uncounted, and leaves nothing leased', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const open = gate()
  const started: number[] = []
  const mixed = action({ name: 'mixed', input: N, retry: { attempts: 2, backoff: '1h' } }, async (ctx, { n }) => {
    started.push(n)
    if (n === 0) return 'at once'
    if (n === 1) throw new Error('it fails')
    if (n === 2) return open.passed
    // Never by itself: it goes with the worker's patience.
    await new Promise((_, reject) => ctx.abortSignal.addEventListener('abort', () => reject(new Error('told to stop'))))
    return null
  })
  const running = await worker({ actions: [mixed], concurrency: 4 })
  const runs = await mixed.enqueueMany(
    lockstep,
    [0, 1, 2, 3, 4, 5].map((n) => ({ n })),
  )
  await until('five have begun', () => started.length >= 5)
  const began = performance.now()
  const stopping = running.stop({ drain: '700ms' })
  open.open()
  await stopping
  assert.ok(performance.now() - began < 30_000)
  assert.equal((await sql.query('select 1 from lockstep.node where lease_expires_at is not null')).rowCount, 0)
  const states = await Promise.all(runs.map(async (run) => run.status()))
  assert.deepEqual([states[0]?.state, states[2]?.state], ['completed', 'completed'])
  const { rows } = await sql.query(
    `select attempt, failures, crashes from lockstep.node where finished_at is null and failures = 0`,
  )
  for (const row of rows) assert.deepEqual(row, { attempt: 0, failures: 0, crashes: 0 })
  assert.equal(rows.length, 3)
})

test(
  'handlers that finish while the database is away are completed once, and the worker goes on',
  { timeout: 120_000 },
  async (t) => {
    const { database, sql } = await workshop(t)
    await sql.query('create table business (n int)')
    const proxy = await startProxy(database.connectionString)
    t.after(async () => proxy.stop())
    const lockstep = new Lockstep({ connectionString: proxy.connectionString, logger: { warn() {} } })
    t.after(async () => lockstep.close({ timeoutMs: 200 }))
    const open = gate()
    let running = 0
    const job = action({ name: 'job', input: N, retry: { attempts: 10, backoff: '50ms' } }, async (ctx, { n }) => {
      running += 1
      if (n < 8) await open.passed
      if (n % 2 === 0) return n
      const tx = await ctx.completionTx()
      await tx.query('insert into business values ($1)', [n])
      return n
    })
    const worker = lockstep.worker({ actions: [job], concurrency: 8, lease: '30s', poll: '50ms' })
    await worker.start()
    const direct = new Lockstep({ connectionString: database.connectionString, logger: { warn() {} } })
    t.after(async () => direct.close())
    const runs = await job.enqueueMany(
      direct,
      Array.from({ length: 16 }, (_, n) => ({ n })),
    )
    await until('eight handlers are at work', () => running >= 8)
    proxy.blackhole()
    open.open()
    await new Promise((resolve) => setTimeout(resolve, 300))
    proxy.cutAll()
    await until('the worker says so', () => !worker.status().healthy || worker.status().lastError !== null, 20_000)
    proxy.resume()
    const results = await Promise.all(runs.map(async (run) => run.result({ timeout: '60s' })))
    assert.deepEqual(
      results,
      runs.map((_, n) => n),
    )
    const { rows } = await sql.query('select n, count(*)::int as times from business group by 1 order by 1')
    assert.deepEqual(
      rows,
      [1, 3, 5, 7, 9, 11, 13, 15].map((n) => ({ n, times: 1 })),
    )
    await until('it is healthy again', () => worker.status().healthy)
  },
)

test('a wait outlives a broken connection and a server that is gone for a while, and no longer than its timeout', async (t) => {
  const { database, lockstep: direct } = await workshop(t)
  const proxy = await startProxy(database.connectionString)
  const quiet = { logger: { warn() {} } }
  const through = new Lockstep({ connectionString: proxy.connectionString, upkeep: false, ...quiet })
  t.after(async () => through.close({ timeoutMs: 200 }))
  const code = workflow({ name: 'gone_for_a_while', input: N }, async (ctx, { n }) => {
    await ctx.waitForSignal('go')
    return n
  })
  await direct.worker({ workflows: [code], poll: '20ms' }).start()
  const run = await code.submit(through, { n: 4 })
  const waited = run.result({ timeout: '60s' })
  const short = assert.rejects(run.wait({ timeout: '500ms' }), (error: Error) => {
    return 'code' in error && (error.code === 'unavailable' || error.code === 'wait_timeout')
  })
  await until('it sleeps', async () => (await direct.run(run.id).status()).state === 'sleeping')
  const { port } = proxy
  await proxy.stop()
  await short
  await direct.run(run.id).signal('go')
  const back = await startProxy(database.connectionString, { port })
  t.after(async () => back.stop())
  assert.equal(await waited, 4)
})

for (const point of ['before-commit', 'after-commit', 'before-ready', 'before-answer'] as const) {
  test(`a step whose COMMIT is cut ${point} has its row exactly once`, async (t) => {
    const { database, sql } = await workshop(t)
    await sql.query('create table business (n int)')
    const proxy = await startProxy(database.connectionString)
    t.after(async () => proxy.stop())
    const lockstep = new Lockstep({ connectionString: proxy.connectionString, upkeep: false, logger: { warn() {} } })
    t.after(async () => lockstep.close({ timeoutMs: 200 }))
    let attempts = 0
    const cuts: Promise<void>[] = []
    const job = action({ name: 'job', input: N, retry: { backoff: '10ms' } }, async (ctx, { n }) => {
      attempts += 1
      const tx = await ctx.completionTx()
      await tx.query('insert into business values ($1)', [n])
      // The next COMMIT that leaves is this step's: the worker has nothing else to do.
      if (attempts === 1) cuts.push(proxy.cutNext(point))
      return n
    })
    const code = workflow({ name: 'code', input: N, retry: { backoff: '10ms' } }, async (ctx, { n }) => {
      await ctx.step('s', async (step) => {
        await step.tx.query('insert into business values ($1)', [n])
        if (attempts === 0) cuts.push(proxy.cutNext(point))
        attempts += 1
      })
      return n
    })
    await lockstep.worker({ actions: [job], workflows: [code], concurrency: 1, poll: '5s' }).start()
    const direct = new Lockstep({ connectionString: database.connectionString, logger: { warn() {} } })
    t.after(async () => direct.close())
    const run = await job.enqueue(direct, { n: 1 })
    assert.equal(await run.result({ timeout: '30s' }), 1)
    await Promise.all(cuts)
    attempts = 0
    const other = await code.submit(direct, { n: 2 })
    assert.equal(await other.result({ timeout: '30s' }), 2)
    await Promise.all(cuts)
    assert.equal(cuts.length, 2)
    assert.deepEqual((await sql.query('select n, count(*)::int as times from business group by 1 order by 1')).rows, [
      { n: 1, times: 1 },
      { n: 2, times: 1 },
    ])
  })
}
