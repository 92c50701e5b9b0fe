// A worker that dies, a claim that lapses, a lease that is lost: nothing waits for anybody's help, and nothing of a lost claim
// counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, PermanentError } from 'lockstep'
import { z } from 'zod'
import { Crash } from '../../src/workflow/worker/crash.ts'
import { gate, until } from '../conformance/until.ts'
import { workshop, type Workshop } from './workshop.ts'

const Id = z.object({ id: z.number() })

/** The lease of the run's claim ends now: a short one would also lapse under a healthy worker on a busy machine. */
async function lapse(sql: Workshop['sql'], runId: string): Promise<void> {
  await sql.query(
    `update lockstep.node set lease_expires_at = now() - interval '1 second', available_at = now()
      where run_id = $1 and lease_expires_at is not null`,
    [runId],
  )
}

test('work that kills its worker every time ends as failed, and the others go on', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const deadly = action({ name: 'deadly', input: Id }, async (ctx) => void (await ctx.completionTx()))
  const fine = action({ name: 'fine', input: Id, concurrency: 1 }, () => 'fine')
  const bad = await deadly.enqueue(lockstep, { id: 1 })
  await sql.query('update lockstep.node set crash_limit = 2 where run_id = $1', [bad.id])
  let deaths = 0
  await worker({
    actions: [deadly, fine],
    lease: '60s',
    poll: '10ms',
    hooks: {
      async beforeCommit() {
        deaths += 1
        throw new Crash('the process died here')
      },
    },
  })
  for (let death = 1; death <= 3; death += 1) {
    await until('it dies', () => deaths >= death)
    await lapse(sql, bad.id)
  }
  const good = await fine.enqueue(lockstep, { id: 2 })
  assert.equal(await good.result({ timeout: '60s' }), 'fine')
  await assert.rejects(bad.result({ timeout: '60s' }), /the lease lapsed 3 times: no worker finished this step/)
})

test('a step that outlives its lease commits nothing, and the one that took over counts', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  await sql.query('create table business (run_id text, attempt int)')
  const held = gate()
  let aborted: unknown = null
  const slow = action({ name: 'slow', input: Id }, async (ctx) => {
    const tx = await ctx.completionTx()
    await tx.query('insert into business values ($1, $2)', [ctx.runId, ctx.attempt])
    if (ctx.attempt > 1) return 'second'
    ctx.abortSignal.addEventListener('abort', () => {
      aborted = ctx.abortSignal.reason
    })
    await held.passed
    return 'first'
  })
  await worker({ actions: [slow], lease: '10s', concurrency: 2 })
  const run = await slow.enqueue(lockstep, { id: 1 })
  await until('it is claimed', async () => (await run.status()).state === 'running')
  // As if its process had been cut off: the lease ends, and somebody else takes over.
  await lapse(sql, run.id)
  assert.equal(await run.result({ timeout: '60s' }), 'second')
  await until('the first hears of it', () => aborted !== null)
  held.open()
  await until(
    'it has ended',
    async () => (await sql.query('select 1 from lockstep.node where lease_expires_at is not null')).rowCount === 0,
  )
  assert.deepEqual((await sql.query('select attempt from business')).rows, [{ attempt: 2 }])
})

test('a code workflow that comes further each time is never given up for its crashes', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  let deaths = 0
  const code = workflow({ name: 'stumbles', input: Id }, async (ctx) => {
    for (let step = 0; step < 5; step += 1) {
      await ctx.step(`s${step}`, () => step)
      if (deaths <= step) {
        deaths += 1
        throw new Crash('the process died here')
      }
    }
    return 'through'
  })
  const run = await code.submit(lockstep, { id: 1 })
  await sql.query('update lockstep.node set crash_limit = 1 where run_id = $1', [run.id])
  await worker({ workflows: [code], lease: '60s', poll: '10ms' })
  for (let death = 1; death <= 5; death += 1) {
    await until('it dies', () => deaths >= death)
    await lapse(sql, run.id)
  }
  assert.equal(await run.result({ timeout: '60s' }), 'through')
  assert.equal(deaths, 5)
})

test('a swallowed failure of a statement completes nothing', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  await sql.query('create table business (run_id text)')
  const swallower = action({ name: 'swallower', input: Id, retry: { attempts: 1 } }, async (ctx) => {
    const tx = await ctx.completionTx()
    await tx.query('insert into business values ($1)', [ctx.runId])
    await tx.query('select 1/0').catch(() => {})
    return 'looks fine'
  })
  const ender = action({ name: 'ender', input: Id, retry: { attempts: 1 } }, async (ctx) => {
    const tx = await ctx.completionTx()
    await tx.query('commit')
  })
  await worker({ actions: [swallower, ender] })
  const run = await swallower.enqueue(lockstep, { id: 1 })
  await assert.rejects(run.result({ timeout: '60s' }), (error: Error) => {
    assert.equal(Reflect.get(Object(error.cause), 'code'), 'failed_transaction')
    return true
  })
  await assert.rejects((await ender.enqueue(lockstep, { id: 1 })).result({ timeout: '60s' }), /refuses COMMIT/)
  assert.equal((await sql.query('select 1 from business')).rowCount, 0)
})

test('four recoverers at once over a hundred lapsed claims run each once, and one bad item strands nobody', async (t) => {
  const { lockstep, another, sql } = await workshop(t)
  await sql.query('create table business (n int)')
  const entered = new Map<number, number>()
  const job = action({ name: 'job', input: Id }, async (ctx, { id }) => {
    entered.set(id, (entered.get(id) ?? 0) + 1)
    if (id === 50) throw new PermanentError('a bad one')
    const tx = await ctx.completionTx()
    await tx.query('insert into business values ($1)', [id])
  })
  await job.enqueueMany(
    lockstep,
    Array.from({ length: 100 }, (_, id) => ({ id })),
  )
  // A process claimed them all and died; nobody keeps a list of it.
  await sql.query(`select count(*) from lockstep.claim_joined('{job}', 'dead', 1, 100, '-infinity')`)
  await Promise.all(
    Array.from({ length: 4 }, async () =>
      another(6)
        .worker({ actions: [job], concurrency: 8, poll: '10ms' })
        .start(),
    ),
  )
  await until(
    'all have ended',
    async () => (await sql.query('select 1 from lockstep.node where finished_at is null')).rowCount === 0,
  )
  assert.equal((await sql.query('select 1 from business')).rowCount, 99)
  assert.equal(entered.size, 100)
  assert.deepEqual(
    [...entered].filter(([, times]) => times !== 1),
    [],
  )
})
