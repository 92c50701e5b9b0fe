// The story of the transactional workflow, line by line: two writes become one, nothing runs after a rollback, a handle answers
// at once before the commit, and a crash before a step's commit leaves its business row exactly once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, RunNotFoundError } from 'lockstep'
import { z } from 'zod'
import { Crash } from '../../src/workflow/worker/crash.ts'
import { gate } from '../conformance/until.ts'
import { workshop } from './workshop.ts'

const processOrder = action({ name: 'process_order', input: z.object({ orderId: z.number() }) }, async (ctx, input) => {
  const tx = await ctx.completionTx()
  await tx.query(`update orders set status = 'processing', run_id = $1 where id = $2 and status = 'pending'`, [
    ctx.runId,
    input.orderId,
  ])
})
const charge = action({ name: 'charge', input: z.object({ paymentId: z.number() }) }, async (ctx, input) => {
  const tx = await ctx.completionTx()
  await tx.query('insert into receipts (run_id, node, payment_id) values ($1, $2, $3) on conflict do nothing', [
    ctx.runId,
    ctx.node,
    input.paymentId,
  ])
  return { receipt: `r-${input.paymentId}` }
})
const fulfilOrder = workflow({ name: 'fulfil_order', input: z.object({ orderId: z.number() }) })
  .node('process', processOrder, ({ input }) => ({ orderId: input.orderId }))
  .node('charge', charge, ({ input }) => ({ paymentId: input.orderId }), { after: ['process'] })

const TABLES = `create table orders (id int primary key, status text, run_id text);
  create table receipts (run_id text, node text, payment_id int, primary key (run_id, node));
  create table events (run_id text, node text, data text, primary key (run_id, node))`

test('an order and its workflow commit together, and waiting begins after the commit', async (t) => {
  const { lockstep, sql, database, worker } = await workshop(t)
  await sql.query(TABLES)
  await worker({ workflows: [fulfilOrder] })
  const tx = await database.connect()
  await tx.query('begin')
  await tx.query(`insert into orders values (1, 'pending')`)
  const run = await fulfilOrder.submitTx(lockstep, tx, { orderId: 1 })
  const job = await lockstep.in(tx).enqueue(charge, { paymentId: 7 })
  for (const call of [run.status, run.wait, run.result, run.cancel, run.retry, () => run.signal('x')]) {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof RunNotFoundError)
      assert.equal(error.reason, 'uncommitted')
      assert.match(error.message, /still open: commit it, then wait/)
      return true
    })
  }
  await tx.query('commit')
  await lockstep.wake()
  assert.equal((await run.wait({ timeout: '10s' })).state, 'completed')
  assert.deepEqual(await run.result(), { process: null, charge: { receipt: 'r-1' } })
  assert.deepEqual(await job.result({ timeout: '10s' }), { receipt: 'r-7' })
  assert.deepEqual((await sql.query('select status, run_id from orders')).rows, [
    { status: 'processing', run_id: run.id },
  ])
  assert.equal((await sql.query('select 1 from receipts')).rowCount, 2)
})

test('a rollback leaves no run, to a savepoint too, and the handle says so at once', async (t) => {
  const { lockstep, sql, database, worker } = await workshop(t)
  await sql.query(TABLES)
  await worker({ workflows: [fulfilOrder] })
  const tx = await database.connect()
  await tx.query('begin')
  const gone = await charge.enqueueTx(lockstep, tx, { paymentId: 1 })
  await tx.query('rollback')
  await assert.rejects(gone.wait(), { name: 'RunNotFoundError', reason: 'rolled_back' })
  await tx.query('begin')
  await tx.query('savepoint s')
  const undone = await fulfilOrder.submitTx(lockstep, tx, { orderId: 1 })
  await tx.query('rollback to s')
  await tx.query('commit')
  await assert.rejects(undone.result(), { name: 'RunNotFoundError', reason: 'rolled_back' })
  const started = performance.now()
  await assert.rejects(lockstep.run('no-such-id').wait(), { name: 'RunNotFoundError', reason: 'unknown' })
  await assert.rejects(lockstep.run('01890000-0000-7000-8000-000000000000').wait(), { reason: 'unknown' })
  assert.ok(performance.now() - started < 10_000)
  assert.equal((await sql.query('select 1 from lockstep.node')).rowCount, 0)
})

test('a crash before the commit leaves no row, and the row exactly once after recovery', async (t) => {
  const { lockstep, sql, database, worker } = await workshop(t)
  await sql.query(TABLES)
  const crashed = gate()
  let armed = true
  const attempts: number[] = []
  const processAction = action({ name: 'process', input: z.object({ data: z.string() }) }, async (ctx, input) => {
    attempts.push(ctx.attempt)
    const tx = await ctx.completionTx()
    await tx.query('insert into events values ($1, $2, $3) on conflict (run_id, node) do nothing', [
      ctx.runId,
      ctx.node,
      input.data,
    ])
  })
  const killer = await database.connect()
  await worker({
    actions: [processAction],
    lease: '300ms',
    hooks: {
      async beforeCommit({ door }) {
        if (!armed) return
        armed = false
        const pid = await door.text('select pg_backend_pid()::text as r', [])
        await killer.query('select pg_terminate_backend($1::int)', [pid])
        crashed.open()
        throw new Crash('the process died here')
      },
    },
  })
  const run = await processAction.enqueue(lockstep, { data: 'test' })
  await crashed.passed
  assert.equal((await sql.query('select 1 from events')).rowCount, 0)
  assert.equal((await run.wait({ timeout: '10s' })).state, 'completed')
  assert.deepEqual((await sql.query('select run_id, node, data from events')).rows, [
    { run_id: run.id, node: 'process', data: 'test' },
  ])
  assert.deepEqual(attempts, [1, 2])
})
