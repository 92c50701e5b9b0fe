// Limits over all workers: never more at once than allowed, per key, no slot that leaks when a run fails, is cancelled or dies,
// no idle gap while work waits; rates; priorities; delays and backoff within their bounds.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, LockstepError, RetryAfter } from 'lockstep'
import { z } from 'zod'
import { until } from '../conformance/until.ts'
import { workshop } from './workshop.ts'

const Keyed = z.object({ key: z.string(), n: z.number() })

test(
  'one at a time per key, with failures and cancels between, and no gap while jobs wait',
  { timeout: 280_000 },
  async (t) => {
    const { lockstep, worker, another, sql } = await workshop(t, 16)
    await sql.query('create table inside (key text primary key)')
    let over = 0
    let last = 0
    let gap = 0
    const critical = action(
      {
        name: 'critical',
        input: Keyed,
        concurrency: { limit: 1, key: ({ key }) => key },
        retry: { attempts: 3, backoff: '5ms' },
      },
      async (_ctx, { key, n }) => {
        const now = performance.now()
        if (last > 0) gap = Math.max(gap, now - last)
        last = now
        await sql.query('insert into inside values ($1)', [key]).catch(() => (over += 1))
        await new Promise((resolve) => setImmediate(resolve))
        await sql.query('delete from inside where key = $1', [key])
        if (n % 7 === 0) throw new Error('now and then')
      },
    )
    await worker({ actions: [critical], concurrency: 8, lease: '60s' })
    const second = another().worker({ actions: [critical], concurrency: 8, lease: '60s', poll: '50ms' })
    await second.start()
    const runs = []
    for (let batch = 0; batch < 6; batch += 1) {
      const inputs = Array.from({ length: 100 }, (_, n) => ({ key: `k${n % 3}`, n }))
      runs.push(...(await critical.enqueueMany(lockstep, inputs)))
    }
    await Promise.all(runs.filter((_, at) => at % 13 === 5).map(async (run) => run.cancel()))
    await until(
      'all have ended',
      async () => {
        const { rows } = await sql.query('select count(*)::int as open from lockstep.node where finished_at is null')
        return rows[0].open === 0
      },
      240_000,
    )
    await second.stop()
    assert.equal(over, 0)
    // A slot that leaked would be free again when its lease lapses.
    assert.ok(gap < 30_000, `an idle gap of ${gap} ms`)
    const { rows } = await sql.query('select 1 from lockstep.run_limit where available_at is not null')
    assert.equal(rows.length, 0)
    assert.equal((await sql.query('select lockstep.remove_limits(100) as removed')).rows[0].removed, 3)
    const later = await critical.enqueue(lockstep, { key: 'k0', n: 1 })
    assert.equal((await later.wait({ timeout: '60s' })).state, 'completed')
  },
)

test('a rate spreads the starts over time', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const starts: number[] = []
  const paced = action({ name: 'paced', input: z.object({}), rate: { limit: 10, per: '1s' } }, () => {
    starts.push(performance.now())
  })
  await worker({ actions: [paced], poll: '10ms' })
  const runs = await paced.enqueueMany(
    lockstep,
    Array.from({ length: 8 }, () => ({})),
  )
  await Promise.all(runs.map(async (run) => run.wait({ timeout: '60s' })))
  assert.ok((starts.at(-1) ?? 0) - (starts[0] ?? 0) > 600)
})

test('higher priorities go first, and a delay is kept by the database', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const order: number[] = []
  const job = action({ name: 'job', input: z.object({ n: z.number() }) }, (_ctx, { n }) => void order.push(n))
  const low = await job.enqueue(lockstep, { n: 1 }, { priority: -5 })
  const high = await job.enqueue(lockstep, { n: 2 }, { priority: 5 })
  const late = await job.enqueue(lockstep, { n: 3 }, { priority: 100, delay: '1h' })
  const never = await job.enqueue(lockstep, { n: 4 }, { delay: '400d' })
  const running = await worker({ actions: [job], concurrency: 1 })
  await Promise.all([low, high].map(async (run) => run.wait({ timeout: '60s' })))
  assert.deepEqual(order, [2, 1])
  assert.equal((await late.status()).state, 'pending')
  const enqueuedAt = performance.now()
  const soon = await job.enqueue(lockstep, { n: 5 }, { delay: '300ms' })
  await soon.wait({ timeout: '60s' })
  assert.ok(performance.now() - enqueuedAt >= 290)
  assert.deepEqual(order, [2, 1, 5])
  assert.equal((await never.status()).state, 'pending')
  await running.stop()
})

test('a backoff grows, stays within its bounds and always lies ahead', async (t) => {
  const { lockstep, sql } = await workshop(t)
  const { rows } = await sql.query(`
    select min(extract(epoch from lockstep._backoff(1000, 60000, n)))::float as least, max(extract(epoch from lockstep._backoff(1000, 60000, n)))::float as most
      from generate_series(1, 2000) n`)
  assert.ok(rows[0].least >= 1 && rows[0].most <= 60)
  for (const delay of [-1, 0.5, Number.NaN, 1e15]) {
    assert.throws(() => new RetryAfter(delay), LockstepError)
    const job = action({ name: 'x', input: z.any() }, () => {})
    await assert.rejects(job.enqueue(lockstep, 1, { delay }), { code: 'bad_request' })
  }
})

test('RetryAfter names the pause, and a final failure carries what was thrown', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const at: number[] = []
  const later = action({ name: 'later', input: z.any(), retry: { attempts: 2, backoff: '1h' } }, () => {
    at.push(performance.now())
    if (at.length === 1) throw new RetryAfter('200ms')
    throw new TypeError('wrong', { cause: new Error('the reason') })
  })
  await worker({ actions: [later] })
  const run = await later.enqueue(lockstep, null)
  await assert.rejects(run.result({ timeout: '60s' }), (error: Error) => {
    assert.equal(String(error.cause), 'TypeError: wrong')
    assert.equal(String(Reflect.get(Object(error.cause), 'cause')), 'Error: the reason')
    return true
  })
  assert.ok((at[1] ?? 0) - (at[0] ?? 0) >= 190)
})

test('a map hands out no more of its items at once than its limit, in each run by itself', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const now = new Map<string, number>()
  const most = new Map<string, number>()
  let together = 0
  const item = action({ name: 'item', input: z.object({ n: z.number() }) }, async (ctx, { n }) => {
    const held = (now.get(ctx.runId) ?? 0) + 1
    now.set(ctx.runId, held)
    most.set(ctx.runId, Math.max(most.get(ctx.runId) ?? 0, held))
    together = Math.max(
      together,
      [...now.values()].reduce((sum, one) => sum + one, 0),
    )
    // Until the other run's items are at work too.
    await until("both runs' items are at work", () => together >= 4, 30_000)
    now.set(ctx.runId, (now.get(ctx.runId) ?? 0) - 1)
    return n
  })
  const graph = workflow({ name: 'limited_map', input: z.object({}) }).map(
    'm',
    item,
    () => Array.from({ length: 12 }, (_, n) => ({ key: `${n}`, input: { n } })),
    { limit: 2 },
  )
  await worker({ workflows: [graph], concurrency: 10 })
  const runs = await graph.submitMany(lockstep, [{}, {}])
  for (const run of runs) {
    assert.equal(Object.keys((await run.result({ timeout: '60s' })).m).length, 12)
    assert.equal(most.get(run.id), 2)
  }
  assert.equal(together, 4)
  const limited = action({ name: 'limited', input: z.object({}), concurrency: 3 }, () => null)
  assert.throws(
    () => workflow({ name: 'both', input: z.object({}) }).map('m', limited, () => [], { limit: 2 }),
    /limit of node 'm' must be left out: action 'limited' has a concurrency/,
  )
  assert.throws(
    () => workflow({ name: 'none', input: z.object({}) }).map('m', item, () => [], { limit: 0 }),
    /limit of node 'm' must be/,
  )
})

test('what undoes is held by its own limit, and a rate that lets nothing start yet is looked at when it does', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const N = z.object({ n: z.number() })
  let inside = 0
  let most = 0
  const undo = action({ name: 'undo', input: z.object({ input: N, output: N }), concurrency: 1 }, async () => {
    most = Math.max(most, (inside += 1))
    await new Promise((resolve) => setTimeout(resolve, 5))
    inside -= 1
  })
  const once = action({ name: 'once', input: N, rate: { limit: 1, per: '1h' } }, (_ctx, { n }) => n)
  const graph = workflow({ name: 'undone', input: N })
    .node(
      'one',
      action({ name: 'one', input: N }, (_ctx, input) => input),
      ({ input }) => input,
      { compensate: undo },
    )
    .node(
      'bad',
      action({ name: 'bad', input: N, retry: { attempts: 1 } }, () => {
        throw new Error('no')
      }),
      ({ input }) => input,
      { after: ['one'] },
    )
  await worker({ workflows: [graph], actions: [once], concurrency: 20 })
  const runs = await graph.submitMany(
    lockstep,
    Array.from({ length: 12 }, (_, n) => ({ n })),
  )
  for (const run of runs) assert.equal((await run.wait({ timeout: '20s' })).state, 'failed')
  assert.equal(most, 1)
  const both = await once.enqueueMany(lockstep, [{ n: 1 }, { n: 2 }])
  await until('one has ended', async () => {
    const states = await Promise.all(both.map(async (run) => (await run.status()).state))
    return states.includes('completed')
  })
  await until('the limit is due when the next may start', async () => {
    const { rows } = await sql.query(
      `select available_at >= next_allowed_at as at from lockstep.run_limit where want = 'once'`,
    )
    return rows[0]?.at === true
  })
})
