// A test of a delay under jest (NODE_OPTIONS=--experimental-vm-modules): three days pass in no time.
import { createTestEnvironment } from 'lockstep/testing'
import { charge } from './charge.ts'

test('a charge that is due in three days waits for them', async () => {
  const env = await createTestEnvironment()
  try {
    await env.pool.query('create table receipts (run_id text, order_id int)')
    await env.register(charge)
    await charge.enqueue(env.client, { orderId: 1 }, { delay: '3d' })
    await env.drain()
    expect(env.spy(charge).calls.length).toBe(0)
    await env.clock.advance('3d')
    const [call] = await env.spy(charge).completed()
    expect(call?.input).toEqual({ orderId: 1 })
    expect(call?.output).toEqual({ receipt: 'r-1' })
  } finally {
    await env.close()
  }
})
