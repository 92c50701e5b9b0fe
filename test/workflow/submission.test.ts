// Submission: keys also while the other transaction is open, what is refused and leaves the transaction usable, and a consumer's
// step that starts a run in the commit of its ack.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pool } from 'pg'
import { action, workflow, type WorkerOptions } from 'lockstep'
import { z } from 'zod'
import { until } from '../conformance/until.ts'
import { workshop } from './workshop.ts'

const N = z.object({ n: z.number() })
const job = action({ name: 'job', input: N }, (_ctx, { n }) => n)

test('one run per key: attached, refused or told apart, whenever the other transaction ends', async (t) => {
  const { lockstep, database, sql } = await workshop(t)
  const first = await job.enqueue(lockstep, { n: 1 }, { key: 'k' })
  const again = await job.enqueue(lockstep, { n: 1 }, { key: 'k' })
  assert.deepEqual([first.created, again.created, again.id], [true, false, first.id])
  await assert.rejects(job.enqueue(lockstep, { n: 2 }, { key: 'k' }), (error: Error) => {
    assert.equal(Reflect.get(error, 'code'), 'run_conflict')
    assert.ok(!JSON.stringify(error).includes('"n":1'))
    return true
  })
  await assert.rejects(job.enqueue(lockstep, { n: 1 }, { key: 'k', onKnownKey: 'refuse' }), { code: 'run_conflict' })
  for (const end of ['commit', 'rollback']) {
    const tx = await database.connect()
    await tx.query('begin')
    const open = await job.enqueueTx(lockstep, tx, { n: 7 }, { key: end })
    const others = Promise.all([1, 2, 3].map(async () => job.enqueue(lockstep, { n: 7 }, { key: end })))
    await until('they wait', async () => {
      const { rows } = await sql.query(
        `select count(*)::int as n from pg_stat_activity where wait_event = 'transactionid' and datname = current_database()`,
      )
      return rows[0].n >= 1
    })
    await tx.query(end)
    const runs = await others
    assert.equal(new Set(runs.map((run) => run.id)).size, 1)
    assert.equal(runs.filter((run) => run.created).length, end === 'commit' ? 0 : 1)
    if (end === 'commit') assert.equal(runs[0]?.id, open.id)
  }
  const bodies = await Promise.allSettled(
    Array.from({ length: 20 }, async (_, at) => job.enqueue(lockstep, { n: at % 2 }, { key: 'two bodies' })),
  )
  const kept = bodies.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []))
  assert.equal(new Set(kept).size, 1)
  assert.equal(kept.length, 10)
})

test('what JSON would change, what a schema refuses and what is no transaction is refused by name', async (t) => {
  const { lockstep, database, sql } = await workshop(t)
  const any = action({ name: 'any', input: z.any() }, () => null)
  const tx = await database.connect()
  await tx.query('begin')
  for (const value of [{ n: 10n }, { n: Number.NaN }, { n: Infinity }, { n: () => 1 }, new Map()]) {
    await assert.rejects(any.enqueueTx(lockstep, tx, value), { code: 'unserializable' })
  }
  await assert.rejects(lockstep.in(tx).enqueue(job, JSON.parse('{"n":"x"}')), (error: Error) => {
    assert.match(error.message, /action 'job': input\.n/)
    return true
  })
  await assert.rejects(any.enqueueTx(lockstep, tx, 'x'.repeat(1_100_000)), { code: 'payload_too_large' })
  await job.enqueueTx(lockstep, tx, { n: 1 })
  await tx.query('commit')
  assert.equal((await sql.query('select 1 from lockstep.node')).rowCount, 1)
  const pool = new Pool({ connectionString: database.connectionString })
  // @ts-expect-error a pool does not compile either
  await assert.rejects(async () => job.enqueueTx(lockstep, pool, { n: 1 }), {
    code: 'not_a_transaction',
    message: /pool/,
  })
  await pool.end()
  for (const options of [{ priority: 1_000 }, { priority: 0.5 }, { key: '' }, { tags: [''] }, { deadline: -1 }]) {
    await assert.rejects(job.enqueue(lockstep, { n: 1 }, options), { code: 'bad_request' }, JSON.stringify(options))
  }
  // @ts-expect-error a misspelt option would submit without a key
  await assert.rejects(job.enqueue(lockstep, { n: 1 }, { kye: 'k' }), /a submission has no option 'kye'; it has key,/)
  // @ts-expect-error nothing that was defined
  await assert.rejects(lockstep.submit({}, { n: 1 }), /must be an action or a workflow/)
  const twins = [1, 2].map((n) => workflow({ name: 'twin', input: z.any() }, () => n))
  await assert.rejects(lockstep.worker({ workflows: twins }).start(), /two workflows of one version are called 'twin'/)
  const like = workflow({ name: job.name, input: z.any() }, () => null)
  await assert.rejects(
    lockstep.worker({ actions: [job], workflows: [like] }).start(),
    /an action and a workflow are called 'job'/,
  )
  // @ts-expect-error a misspelt option of a worker
  const misspelt: WorkerOptions = { actions: [job], concurency: 3 }
  await assert.rejects(lockstep.worker(misspelt).start(), /a worker has no option 'concurency'/)
})

test('a step of a consumer starts a run in the commit of its ack, or not at all', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const graph = workflow({ name: 'from_message', input: N }).node('a', job, ({ input }) => input)
  await worker({ workflows: [graph] })
  await lockstep.queue('orders').push([{ data: { n: 5 } }, { data: { n: -1 } }])
  let failures = 0
  const ids: string[] = []
  await lockstep
    .queue('orders')
    .group('g')
    .subscriptionMode('all')
    .transactional()
    .limit(2)
    .consume(async (message, step) => {
      const run = await step.submit(graph, message.data)
      if (message.data.n < 0 && failures < 1) {
        failures += 1
        throw new Error('after the submission')
      }
      ids.push(run.id)
    })
  assert.equal((await sql.query('select 1 from lockstep.node where ordinal = 0')).rowCount, 2)
  assert.deepEqual(await lockstep.run(ids[0] ?? '').result({ timeout: '10s' }), { a: 5 })
})

test('what a handler asks of ctx joins its commit: a push, state, another run; a lost required write undoes all', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const parent = action({ name: 'parent', input: N, retry: { attempts: 1 } }, async (ctx, { n }) => {
    await ctx.queue('told').push({ data: { n } })
    await ctx.kv.put('state', 'k', { n }, { ttl: '1d', expect: n, required: true })
    const child = await ctx.enqueue(job, { n })
    await ctx.progress({ half: true })
    return child.id
  })
  await worker({ actions: [parent, job] })
  const good = await parent.enqueue(lockstep, { n: 0 })
  const childId = await good.result({ timeout: '10s' })
  assert.equal(await lockstep.run(childId).result({ timeout: '10s' }), 0)
  assert.deepEqual((await lockstep.kv.get('state', 'k')).value, { n: 0 })
  assert.deepEqual((await good.status()).progress, { half: true })
  const bad = await parent.enqueue(lockstep, { n: 999 })
  await assert.rejects(bad.result({ timeout: '10s' }), /required state operation lost/)
  assert.equal((await sql.query(`select 1 from lockstep.node where name = 'job'`)).rowCount, 1)
  const messages = await lockstep.queue('told').group('g').subscriptionMode('all').wait(true).timeout(5_000).pop()
  assert.deepEqual(
    messages.map((message) => message.data),
    [{ n: 0 }],
  )
})

test('a deadline ends a run that has not ended, and retention removes what is old', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const waits = workflow({ name: 'waits', input: N }, async (ctx) => ctx.waitForSignal('never'))
  await worker({ workflows: [waits], actions: [job] })
  const run = await waits.submit(lockstep, { n: 1 }, { deadline: '300ms' })
  await assert.rejects(run.result({ timeout: '15s' }), /did not end before its deadline/)
  const done = await job.enqueue(lockstep, { n: 1 }, { key: 'old' })
  await done.wait({ timeout: '10s' })
  await sql.query(`update lockstep.node set finished_at = now() - interval '31 days'`)
  const { rows } = await sql.query(`select * from lockstep.remove_runs('00000000-0000-0000-0000-000000000000', 100)`)
  assert.equal(rows[0].removed, 1)
  await assert.rejects(done.status(), { name: 'RunNotFoundError' })
  assert.equal((await run.status()).state, 'failed')
  assert.equal((await job.enqueue(lockstep, { n: 2 }, { key: 'old' })).created, true)
})
