// A crash test under node:test: `node --test`.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestEnvironment } from 'lockstep/testing'
import { charge } from './charge.ts'

test('an order is charged exactly once, also when the worker dies before the commit', async () => {
  await using env = await createTestEnvironment({ leaseMs: 60_000 })
  await env.pool.query('create table receipts (run_id text, order_id int)')
  await env.register(charge)
  const crashed = env.killAfter('charge')
  const run = await charge.enqueue(env.client, { orderId: 1 })
  await crashed
  assert.equal((await env.pool.query('select from receipts')).rowCount, 0)
  await env.clock.advance('1m')
  assert.deepEqual(await run.result(), { receipt: 'r-1' })
  assert.equal((await env.pool.query('select from receipts')).rowCount, 1)
})
