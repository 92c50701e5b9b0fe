// The story of a crash before a step's commit, told with the testing kit line by line: after the crash the business row is
// absent, after recovery it is there exactly once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow } from 'lockstep'
import { createTestEnvironment } from 'lockstep/testing'
import { z } from 'zod'

test('crash before commit', async (t) => {
  const env = await createTestEnvironment({ leaseMs: 60_000 })
  t.after(() => env.close())
  await env.pool.query('create table events (run_id text, node text, data text, primary key (run_id, node))')

  const processAction = action({ name: 'process', input: z.object({ data: z.string() }) }, async (ctx, input) => {
    const tx = await ctx.completionTx()
    await tx.query(
      `insert into events (run_id, node, data) values ($1, $2, $3)
       on conflict (run_id, node) do nothing`,
      [ctx.runId, ctx.node, input.data],
    )
  })
  await env.register(processAction)

  const crashed = env.killAfter('process')

  const run = await processAction.enqueue(env.client, { data: 'test' })
  await crashed
  const count = async (): Promise<unknown> =>
    (await env.pool.query('select count(*)::int from events where run_id = $1', [run.id])).rows[0]?.count
  assert.equal(await count(), 0)
  // The lease of the dead lapses; a minute passes in no time.
  await env.clock.advance('1m')
  const status = await run.wait({ timeout: '10s' })
  assert.equal(status.state, 'completed')

  assert.equal(await count(), 1)
  assert.deepEqual(
    env.spy(processAction).calls.map((call) => [call.attempt, call.input.data, call.outcome]),
    [
      [1, 'test', 'lost'],
      [2, 'test', 'completed'],
    ],
  )
})

test('a crash after the first of two steps: each business row exactly once, whichever step it hits', async (t) => {
  const env = await createTestEnvironment({ leaseMs: 60_000 })
  t.after(() => env.close())
  // No unique key: what was written twice would be there twice.
  await env.pool.query('create table ledger (run_id text, node text)')
  const book = action({ name: 'book', input: z.object({ amount: z.number() }) }, async (ctx) => {
    const tx = await ctx.completionTx()
    await tx.query('insert into ledger values ($1, $2)', [ctx.runId, ctx.node])
  })
  const transfer = workflow({ name: 'transfer', input: z.object({ amount: z.number() }) })
    .node('debit', book, ({ input }) => input)
    .node('credit', book, ({ input }) => input, { after: ['debit'] })
  await env.register(transfer)

  const runs = []
  for (const node of ['debit', 'credit']) {
    const crashed = env.killAfter(node)
    runs.push(await transfer.submit(env.client, { amount: 5 }))
    await crashed
    await env.clock.advance('1m')
  }
  for (const run of runs) {
    await run.result({ timeout: '10s' })
    const { rows } = await env.pool.query('select node from ledger where run_id = $1 order by node', [run.id])
    assert.deepEqual(rows, [{ node: 'credit' }, { node: 'debit' }])
  }
})
