// The testing kit by its own means: kills, clock, draining and spies do what they say, and say when they cannot.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { action, workflow } from 'lockstep'
import { createTestEnvironment, type TestEnvironment, type TestEnvironmentOptions } from 'lockstep/testing'
import { z } from 'zod'

async function environment(t: TestContext, options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const env = await createTestEnvironment({ leaseMs: 300, ...options })
  t.after(() => env.close())
  return env
}

const Order = z.object({ orderId: z.number() })
const quiet = action({ name: 'quiet', input: Order }, (_ctx, input) => ({ seen: input.orderId }))
const flaky = action({ name: 'flaky', input: Order, retry: { attempts: 3, backoff: '1h' } }, (ctx) => {
  if (ctx.attempt === 1) throw new Error('not yet')
  return ctx.attempt
})

test('a kill reaches a completion that wrote nothing, and the attempt comes again', async (t) => {
  const env = await environment(t, { leaseMs: 200 })
  await env.register(quiet)
  const killed = env.killAfter('quiet')
  const run = await env.client.enqueue(quiet, { orderId: 7 })
  await killed
  assert.deepEqual(await run.result({ timeout: '10s' }), { seen: 7 })
  const spy = env.spy(quiet)
  assert.deepEqual(
    spy.calls.map((call) => [call.attempt, call.input.orderId, call.outcome, call.output?.seen]),
    [
      [1, 7, 'lost', undefined],
      [2, 7, 'completed', 7],
    ],
  )
})

test('a kill spares what completes beside it, and happens once each time it is armed', async (t) => {
  const env = await environment(t)
  await env.register(quiet, flaky)
  const kills = Promise.all([env.killAfter('quiet'), env.killAfter('quiet')])
  const runs = await env.client.enqueueMany(
    quiet,
    Array.from({ length: 20 }, (_, orderId) => ({ orderId })),
  )
  await kills
  for (const [orderId, run] of runs.entries()) assert.deepEqual(await run.result(), { seen: orderId })
  assert.equal(env.spy('quiet').calls.filter((call) => call.outcome === 'lost').length, 2)
  assert.equal(env.spy('quiet').calls.length, 22)
})

test('a step and a call of code are killed by their names', async (t) => {
  const env = await environment(t, { leaseMs: 60_000 })
  await env.pool.query('create table done (what text)')
  const code = workflow({ name: 'code', input: Order }, async (ctx, input) => {
    await ctx.step('write', async ({ tx }) => void (await tx.query(`insert into done values ('write')`)))
    return ctx.call('ask', quiet, input)
  })
  await env.register(code, quiet)
  const atStep = env.killAfter('write')
  const atCall = env.killAfter('ask')
  const run = await env.client.submit(code, { orderId: 1 })
  await atStep
  assert.equal((await env.pool.query('select from done')).rowCount, 0)
  await env.clock.advance('1m')
  await atCall
  assert.equal((await env.pool.query('select from done')).rowCount, 1)
  await env.clock.advance('1m')
  assert.deepEqual(await run.result(), { seen: 1 })
  assert.equal((await env.pool.query('select from done')).rowCount, 1)
})

test('advance moves the clock of the database: a backoff of an hour, a sleep of three days', async (t) => {
  const env = await environment(t)
  const patient = workflow({ name: 'patient', input: Order }, async (ctx) => {
    await ctx.sleep('three days', '3d')
    return 'awake'
  })
  await env.register(flaky, patient)
  const job = await env.client.enqueue(flaky, { orderId: 1 })
  const run = await env.client.submit(patient, { orderId: 1 })
  const [failure] = await env.spy(flaky).failed()
  assert.match(String(failure?.error), /not yet/)
  await env.drain()
  assert.deepEqual([(await job.status()).state, (await run.status()).state], ['running', 'sleeping'])
  const before = await env.clock.now()
  await env.clock.advance('2h')
  await env.drain()
  assert.equal(await job.result(), 2)
  assert.equal((await run.status()).state, 'sleeping')
  await env.clock.advance('3d')
  await env.drain()
  assert.equal(await run.result(), 'awake')
  const passed = (await env.clock.now()).getTime() - before.getTime()
  assert.ok(passed >= 74 * 3_600_000 && passed < 74 * 3_600_000 + 60_000)
})

test('drain takes a graph to its end, and names what nobody runs', async (t) => {
  const env = await environment(t)
  const graph = workflow({ name: 'graph', input: Order })
    .node('first', quiet, ({ input }) => input)
    .node('second', quiet, ({ outputs }) => ({ orderId: outputs.first.seen + 1 }), { after: ['first'] })
  await env.register(graph)
  const run = await env.client.submit(graph, { orderId: 1 })
  await env.drain()
  assert.deepEqual((await run.status()).state, 'completed')
  assert.deepEqual(
    (await env.spy(quiet).completed(2)).map((call) => [call.node, call.output?.seen]),
    [
      ['first', 1],
      ['second', 2],
    ],
  )
  await env.client.enqueue(flaky, { orderId: 1 })
  await assert.rejects(env.drain(), /nobody runs what is due: flaky \(1\)\. Is it registered\?/)
})

test('a spy that waits in vain says what it counted', async (t) => {
  const env = await environment(t)
  await env.register(quiet)
  await env.client.enqueue(quiet, { orderId: 1 })
  await env.spy(quiet).called()
  await assert.rejects(env.spy('quiet').called(2, { timeoutMs: 50 }), /'quiet' was called 1 of 2 times in 50 ms/)
})

test('a worker that is stopped lets work lie until it is started again', async (t) => {
  const env = await environment(t)
  await assert.rejects(env.worker.start(), /register an action/)
  await env.register(quiet)
  await env.worker.stop()
  assert.equal(env.worker.status().state, 'stopped')
  const run = await env.client.enqueue(quiet, { orderId: 3 })
  assert.equal((await run.status()).state, 'pending')
  await env.worker.start()
  assert.deepEqual(await run.result(), { seen: 3 })
})

test('closing twice is closing once, and the database is gone', async () => {
  const env = await createTestEnvironment()
  const url = env.connectionString
  await env.close()
  await env[Symbol.asyncDispose]()
  const again = await createTestEnvironment()
  const { rows } = await again.pool.query('select 1 from pg_database where datname = $1', [
    new URL(url).pathname.slice(1),
  ])
  await again.close()
  assert.deepEqual(rows, [])
})
