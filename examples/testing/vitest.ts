// A crash test under vitest, with an environment per test.
import { createTestEnvironment, type TestEnvironment } from 'lockstep/testing'
import { charge } from './charge.ts'

describe('charge', () => {
  let env: TestEnvironment

  beforeEach(async () => {
    env = await createTestEnvironment({ leaseMs: 60_000 })
    await env.pool.query('create table receipts (run_id text, order_id int)')
    await env.register(charge)
  })
  afterEach(async () => env.close())

  test('happens exactly once, also when the worker dies before the commit', async () => {
    const crashed = env.killAfter('charge')
    const run = await charge.enqueue(env.client, { orderId: 1 })
    await crashed
    expect((await env.pool.query('select from receipts')).rowCount).toBe(0)
    await env.clock.advance('1m')
    expect(await run.result()).toEqual({ receipt: 'r-1' })
    expect((await env.pool.query('select from receipts')).rowCount).toBe(1)
  })
})
