// Cancelling, retrying and signalling race with completion, a thousand times: one outcome, and the run, its nodes and the
// business rows all tell the same one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow } from 'lockstep'
import { z } from 'zod'
import { workshop } from './workshop.ts'

const Id = z.object({ id: z.number() })
const RACES = 1_000
const BATCH = 25
const LARGE = 200
const ids = Array.from({ length: LARGE }, (_, id) => ({ id }))

test(`${RACES} races of cancel with completion end one way each`, { timeout: 300_000 }, async (t) => {
  const { lockstep, worker, sql } = await workshop(t, 16)
  await sql.query('create table business (run_id text, node text, primary key (run_id, node))')
  const write = action({ name: 'write', input: Id }, async (ctx, input) => {
    const tx = await ctx.completionTx()
    await tx.query('insert into business values ($1, $2)', [ctx.runId, ctx.node])
    return input
  })
  const graph = workflow({ name: 'two', input: Id })
    .node('a', write, ({ input }) => input)
    .node('b', write, ({ outputs }) => outputs.a, { after: ['a'] })
  await worker({ workflows: [graph], concurrency: BATCH })
  // Widened or narrowed until about half of the runs are quicker than their cancel.
  let spanMs = 40
  for (let race = 0; race < RACES; race += BATCH) {
    let done = 0
    const runs = await graph.submitMany(
      lockstep,
      Array.from({ length: BATCH }, (_, id) => ({ id })),
    )
    await Promise.all(
      runs.map(async (run) => {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * spanMs))
        const told = await run.cancel()
        const { state } = await run.wait({ timeout: '20s' })
        assert.equal(state, told)
        if (state === 'completed') done += 1
      }),
    )
    spanMs *= done < BATCH / 2 ? 1.3 : 0.75
  }
  const { rows } = await sql.query(`
    select r.state, count(*)::int as runs,
           count(*) filter (where not (select bool_and((n.state = 'done') = exists (
             select 1 from business b where b.run_id = n.run_id::text and b.node = n.name)) from lockstep.node n
             where n.run_id = r.run_id and n.ordinal > 0))::int as torn,
           count(*) filter (where exists (select 1 from lockstep.node n where n.run_id = r.run_id
             and (n.finished_at is null or n.lease_expires_at is not null)))::int as open
      from lockstep.node r where r.ordinal = 0 group by 1 order by 1`)
  t.diagnostic(JSON.stringify(rows))
  assert.equal(
    rows.reduce((sum, row) => sum + row.runs, 0),
    RACES,
  )
  for (const row of rows) assert.deepEqual([row.torn, row.open], [0, 0], row.state)
})

test(
  `${RACES} races of retries and a cancel with the end of a failed run end one way each`,
  { timeout: 300_000 },
  async (t) => {
    const { lockstep, worker, sql } = await workshop(t, 16)
    await sql.query('create table business (run_id text)')
    await sql.query('create table allowed (run_id text primary key)')
    const failing = action({ name: 'failing', input: Id, retry: { attempts: 1 } }, async (ctx) => {
      const tx = await ctx.completionTx()
      await tx.query('insert into business values ($1)', [ctx.runId])
      const { rows } = await tx.query('select 1 from allowed where run_id = $1', [ctx.runId])
      if (rows.length === 0) throw new Error('the first time')
    })
    await worker({ actions: [failing], concurrency: 50 })
    let spanMs = 20
    for (let race = 0; race < RACES; race += LARGE) {
      const jobs = await failing.enqueueMany(lockstep, ids)
      await Promise.all(jobs.map(async (job) => assert.equal((await job.wait({ timeout: '60s' })).state, 'failed')))
      await sql.query('insert into allowed select unnest($1::text[])', [jobs.map((job) => job.id)])
      // Few at once: a verb that waits behind hundreds of others races with nothing.
      for (let at = 0; at < LARGE; at += BATCH) {
        let done = 0
        await Promise.all(
          jobs.slice(at, at + BATCH).map(async (job) => {
            const again = await job.retry()
            const late = new Promise((resolve) => setTimeout(resolve, Math.random() * spanMs))
            const told = [again, ...(await Promise.all([job.retry(), late.then(() => job.cancel())]))]
            for (const state of told) assert.ok(['running', 'completed', 'cancelled'].includes(state), state)
            // A retry that came after the cancel has started it once more.
            const { state } = await job.wait({ timeout: '60s' })
            assert.ok(state === 'completed' || state === 'cancelled', state)
            if (told[2] === 'completed') assert.equal(state, 'completed')
            if (state === 'completed') done += 1
          }),
        )
        spanMs = Math.max(1, spanMs * (done < BATCH / 2 ? 1.5 : 0.6))
      }
    }
    const { rows } = await sql.query(
      `select n.state, count(*)::int as runs, sum((select count(*) from business b where b.run_id = n.run_id::text))::int as rows,
            count(*) filter (where n.finished_at is null or n.lease_id is not null and n.state <> 'done')::int as open
       from lockstep.node n group by 1 order by 1`,
    )
    t.diagnostic(JSON.stringify(rows))
    assert.equal(
      rows.reduce((sum, row) => sum + row.runs, 0),
      RACES,
    )
    for (const row of rows) assert.deepEqual([row.rows, row.open], [row.state === 'done' ? row.runs : 0, 0], row.state)
  },
)

test(
  `${RACES} signals race with the end of their run's patience: taken or not, all tell the same`,
  { timeout: 300_000 },
  async (t) => {
    const { lockstep, worker, sql } = await workshop(t, 16)
    await sql.query('create table business (run_id text, heard text)')
    const listener = workflow({ name: 'listener', input: Id }, async (ctx) => {
      const heard = await ctx.waitForSignal<number>('s', { timeout: '40ms' })
      await ctx.step('write', async (step) => {
        await step.tx.query('insert into business values ($1, $2)', [ctx.runId, String(heard)])
      })
      return heard
    })
    await worker({ workflows: [listener], concurrency: 50 })
    let spanMs = 1_000
    for (let race = 0; race < RACES; race += LARGE) {
      const runs = await listener.submitMany(lockstep, ids)
      let heard = 0
      await Promise.all(
        runs.map(async (run, at) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * spanMs))
          const kept = await run.signal('s', at)
          const result = await run.result({ timeout: '60s' })
          assert.ok(result === null || (kept && result === at), `${result} of ${at}, ${kept}`)
          if (result !== null) heard += 1
        }),
      )
      spanMs = Math.max(10, spanMs * (heard < LARGE / 2 ? 0.5 : 2))
    }
    const { rows } = await sql.query(
      `select n.output = 'null' as nothing, count(*)::int as runs,
            count(*) filter (where (select array_agg(b.heard) from business b where b.run_id = n.run_id::text)
              is distinct from array[n.output])::int as torn,
            count(*) filter (where (n.output <> 'null') is distinct from exists (
              select 1 from lockstep.signal s where s.run_id = n.run_id and s.taken_by is not null and s.payload = n.output))::int as mistold
       from lockstep.node n where n.ordinal = 0 group by 1 order by 1`,
    )
    t.diagnostic(JSON.stringify(rows))
    assert.equal(
      rows.reduce((sum, row) => sum + row.runs, 0),
      RACES,
    )
    for (const row of rows) assert.deepEqual([row.torn, row.mistold], [0, 0])
  },
)
