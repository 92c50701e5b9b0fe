// Straight to PostgreSQL without a broker: the application's own pool, migration from code, and refusals that name the command.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { Pool } from 'pg'
import { z } from 'zod'
import { createTestDatabase } from '../../src/testing/database.ts'
import { until } from './until.ts'

const quiet = { warn() {} }

test("the application's own pool is used and survives the client", async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const pool = new Pool({ connectionString, max: 4 })
  const lockstep = new Lockstep({ pool, logger: quiet })
  await lockstep.queue('q').push({ data: 1 })
  const result = await lockstep
    .queue('q')
    .group('g')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      await step.queue('out').push({ data: 2 })
    })
  assert.equal(result.consumed, 1)
  await lockstep.close()
  assert.equal((await pool.query('select 1 as one')).rows[0].one, 1)
  await pool.end()
})

test('many pops at once make Node warn of nothing', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const lockstep = new Lockstep({ connectionString, logger: quiet })
  const warnings: Error[] = []
  const note = (warning: Error): number => warnings.push(warning)
  process.on('warning', note)
  await Promise.all(Array.from({ length: 30 }, () => lockstep.queue('q').group('g').pop()))
  await lockstep.close()
  // A warning is told a turn later.
  await new Promise((go) => setImmediate(go))
  process.off('warning', note)
  assert.deepEqual(warnings, [])
})

test('what is no pool is refused', async () => {
  const lockstep = new Lockstep({
    pool: { totalCount: 0, connect: async () => ({}), end: async () => {} },
    logger: quiet,
  })
  await assert.rejects(lockstep.kv.get('o', 'k'), { code: 'bad_request' })
  await lockstep.close()
})

test('a database without the schema is refused with the command, and migrate() makes it serve', async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const lockstep = new Lockstep({ connectionString, logger: quiet })
  await assert.rejects(lockstep.queue('q').push({ data: 1 }), { code: 'schema_missing', message: /lockstep migrate/ })
  await lockstep.migrate()
  assert.equal((await lockstep.queue('q').push({ data: 1 }))[0]?.status, 'queued')
  await lockstep.migrate()
  await lockstep.close()
})

test('a database of an older or a newer package is refused by name, by a consumer too', async (t) => {
  const { connectionString, database } = await createTestDatabase(t)
  await database.rows(
    `insert into lockstep.migration (number, name, checksum, breaking, phase, applied_at)
     select 9999, '9999_later', checksum, true, phase, applied_at from lockstep.migration where number = 1`,
    [],
  )
  const newer = new Lockstep({ connectionString, logger: quiet })
  await assert.rejects(newer.kv.get('o', 'k'), { code: 'schema_newer' })
  await assert.rejects(
    newer
      .queue('q')
      .each()
      .consume(async () => {}),
    { code: 'schema_newer' },
  )
  await newer.close()
  await database.rows('delete from lockstep.migration where number >= 2', [])
  const older = new Lockstep({ connectionString, logger: quiet })
  await assert.rejects(older.kv.get('o', 'k'), { code: 'schema_outdated', message: /lockstep migrate/ })
  await older.close()
})

test('a database that cannot be reached is unavailable, and the client can still be closed', async () => {
  const lockstep = new Lockstep({ connectionString: 'postgres://nobody:x@127.0.0.1:9/none', logger: quiet })
  await assert.rejects(lockstep.kv.get('o', 'k'), { code: 'unavailable' })
  await lockstep.close()
})

test('two processes on one database: a push here wakes a waiting pop there', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const here = new Lockstep({ connectionString, logger: quiet })
  const there = new Lockstep({ connectionString, logger: quiet })
  const group = there.queue('q').group('g').subscriptionMode('all').wait(true).timeout(20_000)
  await here.queue('q').push({ data: 0 })
  assert.equal((await group.pop())[0]?.data, 0)
  await there.queue('q').group('g').seek('end')
  const waits: number[] = []
  for (const data of [1, 2, 3]) {
    const waiting = group.pop()
    await new Promise((resolve) => setTimeout(resolve, 300))
    const pushedAt = performance.now()
    await here.queue('q').push({ data })
    const [message] = await waiting
    waits.push(performance.now() - pushedAt)
    assert.equal(message?.data, data)
    await there.ack(message)
  }
  assert.ok(Math.min(...waits) < 500, `woken after ${waits.map(Math.round).join(', ')} ms`)
  await here.close()
  await there.close()
})

test('await using ends what was started: client, worker and broker', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const greet = action({ name: 'greet', input: z.string() }, async (_, name) => `hello ${name}`)
  const ended: (() => Promise<unknown>)[] = []
  {
    await using broker = createBroker({ connectionString, port: 0 })
    await broker.start()
    await using lockstep = new Lockstep({ connectionString, logger: quiet })
    await using worker = lockstep.worker({ actions: [greet] })
    await worker.start()
    await using idle = lockstep.worker({ actions: [greet] })
    assert.equal(idle.status().state, 'stopped')
    const run = await greet.submit(lockstep, 'you')
    assert.equal((await run.wait()).state, 'completed')
    const { address } = broker
    ended.push(
      async () => fetch(`${address}/health`),
      async () => lockstep.queue('q').push({ data: 1 }),
    )
    assert.equal((await fetch(`${address}/health`)).status, 200)
    ended.push(async () => assert.notEqual(worker.status().state, 'stopped'))
  }
  for (const work of ended) await assert.rejects(work)
})

test('a process that consumes takes part in upkeep: what was staged is placed though nobody pops its queue', async (t) => {
  const { connectionString, connect, database } = await createTestDatabase(t)
  const stage = async (): Promise<void> => {
    const tx = await connect()
    await tx.query('begin')
    await lockstep.in(tx).queue('nobody-pops-this').push({ data: 1 })
    await tx.query('commit')
  }
  const staged = async (): Promise<number> =>
    Number((await database.rows('select count(*) from lockstep.staged', []))[0]?.[0])
  const lockstep = new Lockstep({ connectionString, logger: quiet })
  await stage()
  assert.equal(await staged(), 1)
  assert.deepEqual(await lockstep.queue('another').pop(), [])
  await until('the staged message is placed', async () => (await staged()) === 0)
  await lockstep.close()

  const without = new Lockstep({ connectionString, upkeep: false, logger: quiet })
  const tx = await connect()
  await tx.query('begin')
  await without.in(tx).queue('nobody-pops-this').push({ data: 2 })
  await tx.query('commit')
  assert.deepEqual(await without.queue('another').wait(true).timeout(1_500).pop(), [])
  assert.equal(await staged(), 1)
  await without.close()
})
