// The client straight to PostgreSQL with its connection cut around the COMMIT: whatever was cut, each verb takes effect once, and
// what it answers is true. Nothing is decided by trying again blindly: a repeat carries the ids of the first attempt, and a step
// of the user's is decided by reading the row of its request id.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, Lockstep } from 'lockstep'
import { z } from 'zod'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { startProxy, type CutPoint, type Proxy } from '../../src/testing/proxy.ts'

const POINTS: readonly CutPoint[] = ['before-commit', 'after-commit', 'before-ready']

interface Ground {
  readonly database: TestDatabase
  readonly proxy: Proxy
  readonly lockstep: Lockstep
}

async function cutGround(t: Parameters<typeof createTestDatabase>[0]): Promise<Ground> {
  const database = await createTestDatabase(t)
  const proxy = await startProxy(database.connectionString)
  const lockstep = new Lockstep({ connectionString: proxy.connectionString, upkeep: false, logger: { warn() {} } })
  t?.after(async () => {
    await lockstep.close()
    await proxy.stop()
  })
  // The schema has been looked at before anything is cut.
  await lockstep.kv.get('o', 'none')
  return { database, proxy, lockstep }
}

for (const point of POINTS) {
  test(`a push cut ${point} is stored once, and its answer names the message`, async (t) => {
    const { database, proxy, lockstep } = await cutGround(t)
    const cut = proxy.cutNext(point)
    const [outcome] = await lockstep.queue('q').push({ data: { n: 1 } })
    await cut
    const stored = await database.database.rows('select id from lockstep.message', [])
    assert.equal(stored.length, 1)
    assert.ok(outcome !== undefined && 'messageId' in outcome)
    assert.ok(outcome.status === 'queued' || outcome.status === 'duplicate')
    assert.equal(outcome.messageId, stored[0]?.[0])
  })

  test(`a transaction cut ${point} is applied once, and its answer says so`, async (t) => {
    const { database, proxy, lockstep } = await cutGround(t)
    const cut = proxy.cutNext(point)
    const result = await lockstep
      .transaction()
      .kv.incr('c', 'n', 1, { ttl: '1d' })
      .queue('q')
      .push({ data: 1 })
      .commit()
    await cut
    assert.ok(result.success)
    assert.equal((await lockstep.kv.get('c', 'n')).value, 1)
    assert.equal((await database.database.rows('select id from lockstep.message', [])).length, 1)
  })

  test(`a step with the user's rows cut ${point} is applied once and its message finished once`, async (t) => {
    const { database, proxy, lockstep } = await cutGround(t)
    const own = await database.connect()
    await own.query('create table effect (attempt int not null)')
    await lockstep.queue('q').config({ retryDelay: 0 }).create()
    await lockstep.queue('q').push({ data: 1 })
    let attempts = 0
    const cuts: Promise<void>[] = []
    const result = await lockstep
      .queue('q')
      .group('g')
      .subscriptionMode('all')
      .transactional()
      .batch(1)
      .limit(1)
      .idleMillis(5_000)
      .consume(async (_, step) => {
        attempts += 1
        await step.tx.query('insert into effect values ($1)', [attempts])
        await step.queue('out').push({ data: attempts })
        if (attempts === 1) cuts.push(proxy.cutNext(point))
      })
    await Promise.all(cuts)
    assert.deepEqual(result, { consumed: 1, reason: 'limit' })
    assert.equal(attempts, point === 'before-commit' ? 2 : 1, 'a step that was committed is not handled again')
    assert.deepEqual((await own.query('select attempt from effect')).rows, [{ attempt: attempts }])
    assert.deepEqual(
      (await lockstep.queue('out').wait(true).timeout(5_000).pop()).map((message) => message.data),
      [attempts],
    )
    assert.deepEqual(await lockstep.queue('q').group('g').pop(), [])
  })
}

for (const point of POINTS) {
  test(`a completion with the user's rows cut ${point} is committed once, and its run says so`, async (t) => {
    const { database, proxy, lockstep } = await cutGround(t)
    const own = await database.connect()
    await own.query('create table effect (attempt int not null)')
    const cuts: Promise<void>[] = []
    const job = action({ name: 'job', input: z.object({}), retry: { backoff: '1ms' } }, async (ctx) => {
      const tx = await ctx.completionTx()
      await tx.query('insert into effect values ($1)', [ctx.attempt])
      if (cuts.length === 0) cuts.push(proxy.cutNext(point))
      return ctx.attempt
    })
    const worker = lockstep.worker({ actions: [job], lease: '1s', poll: '20ms' })
    await worker.start()
    const run = await job.enqueue(lockstep, {})
    const result = await run.result({ timeout: '30s' })
    await Promise.all(cuts)
    assert.deepEqual((await own.query('select attempt from effect')).rows, [{ attempt: result }])
    assert.deepEqual((await own.query('select state from lockstep.node')).rows, [{ state: 'done' }])
  })

  test(`a submission cut ${point} is one run, and its handle is of that run`, async (t) => {
    const { database, proxy, lockstep } = await cutGround(t)
    const job = action({ name: 'job', input: z.object({}) }, () => null)
    const cut = proxy.cutNext(point)
    const runs = await lockstep.enqueueMany(job, [{}, {}])
    await cut
    const stored = await database.database.rows('select run_id from lockstep.node order by 1', [])
    assert.deepEqual(
      stored.map(([id]) => id),
      runs.map((run) => run.id).toSorted(),
    )
  })
}

test('a write of state cut after its COMMIT is told as unknown, and never applied twice', async (t) => {
  const { proxy, lockstep } = await cutGround(t)
  const cut = proxy.cutNext('after-commit')
  await assert.rejects(lockstep.kv.incr('c', 'n', 1, { ttl: '1d' }), { code: 'outcome_unknown' })
  await cut
  assert.equal((await lockstep.kv.get('c', 'n')).value, 1)
})
