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
  'retries and signals race with the end of their runs, and each is answered by what became of it',
  { timeout: 300_000 },
  async (t) => {
    const { lockstep, worker, sql } = await workshop(t, 16)
    await sql.query('create table business (run_id text, step text)')
    const failing = action({ name: 'failing', input: Id, retry: { attempts: 1 } }, async (ctx) => {
      const tx = await ctx.completionTx()
      await tx.query('insert into business values ($1, $2)', [ctx.runId, `try`])
      if (
        (await tx.query<{ n: number }>('select count(*)::int as n from tried where run_id = $1', [ctx.runId])).rows[0]
          ?.n === 0
      ) {
        throw new Error('the first time')
      }
    })
    await sql.query('create table tried (run_id text)')
    const listener = workflow({ name: 'listener', input: Id }, async (ctx) => {
      const first = await ctx.waitForSignal<number>('s', { timeout: '5ms' })
      await ctx.step('write', async (step) => {
        await step.tx.query('insert into business values ($1, $2)', [ctx.runId, String(first)])
      })
      return first
    })
    await worker({ workflows: [listener], actions: [failing], concurrency: BATCH })
    for (let race = 0; race < RACES / 10; race += BATCH) {
      const jobs = await failing.enqueueMany(
        lockstep,
        Array.from({ length: BATCH }, (_, id) => ({ id })),
      )
      await Promise.all(
        jobs.map(async (job) => {
          while ((await job.status()).state !== 'failed') await new Promise((resolve) => setTimeout(resolve, 2))
          await sql.query('insert into tried values ($1)', [job.id])
          const told = await Promise.all([job.retry(), job.retry(), job.retry()])
          assert.ok(
            told.every((state) => state === 'running' || state === 'completed'),
            String(told),
          )
          assert.equal((await job.wait({ timeout: '20s' })).state, 'completed')
        }),
      )
      const runs = await listener.submitMany(
        lockstep,
        Array.from({ length: BATCH }, (_, id) => ({ id })),
      )
      await Promise.all(
        runs.map(async (run, at) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 15))
          const taken = await run.signal('s', at)
          const result = await run.result({ timeout: '20s' })
          assert.ok(result === at || result === null)
          if (!taken) assert.equal(result, null)
        }),
      )
    }
    const { rows } = await sql.query(
      'select run_id, step, count(*)::int as times from business group by 1, 2 having count(*) <> 1',
    )
    assert.deepEqual(rows, [])
  },
)
