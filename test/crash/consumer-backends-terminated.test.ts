// A consumer straight to PostgreSQL whose backends are ended again and again while it works: the process lives, no message is
// lost, and a step's effect is there once, whatever instant its backend ended at.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep } from 'lockstep'
import { createTestDatabase } from '../../src/testing/database.ts'

const MESSAGES = 120
const PARTITIONS = 8

test('steps survive their backends, each effect once and in order', async (t) => {
  const { connectionString, connect } = await createTestDatabase(t)
  const own = await connect()
  await own.query('create table effect (partition text not null, n int not null, unique (partition, n))')
  const lockstep = new Lockstep({ connectionString, logger: { warn() {} } })
  t.after(async () => lockstep.close())
  await lockstep.queue('q').config({ retryDelay: 0, retryDelayMax: 0, crashLimit: 1_000, leaseTime: 5 }).create()
  for (let n = 0; n < MESSAGES; n += 1)
    await lockstep
      .queue('q')
      .partition(`p${n % PARTITIONS}`)
      .push({ data: n })

  let killing = true
  let killed = 0
  const killer = (async () => {
    while (killing) {
      const { rows } = await own.query(
        `select count(pg_terminate_backend(pid))::int as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and random() < 0.5`,
      )
      killed += rows[0].n
      await new Promise((resolve) => setTimeout(resolve, 60))
      if (killed > 60) killing = false
    }
  })()
  const consuming = lockstep
    .queue('q')
    .group('g')
    .subscriptionMode('all')
    .concurrency(4)
    .transactional()
    .batch(5)
    .limit(MESSAGES)
    .consume(async (message, step) => {
      await step.tx.query('insert into effect values ($1, $2)', [message.partition, message.data])
      await step.queue('out').partition(message.partition).push({ data: message.data })
    })
  const { consumed } = await consuming
  killing = false
  await killer
  assert.equal(consumed, MESSAGES)
  assert.ok(killed >= 10, `only ${killed} backends were ended`)
  const { rows } = await own.query('select count(*)::int as n, count(distinct n)::int as distinct from effect')
  assert.deepEqual(rows, [{ n: MESSAGES, distinct: MESSAGES }])
  const { rows: dead } = await own.query('select count(*)::int as n from lockstep.dead_letter')
  assert.deepEqual(dead, [{ n: 0 }])

  const out = new Map<string, number[]>()
  await lockstep
    .queue('out')
    .group('check')
    .subscriptionMode('all')
    .partitions(PARTITIONS)
    .limit(MESSAGES)
    .each()
    .consume(async (message) => {
      const seen = out.get(message.partition) ?? []
      out.set(message.partition, [...seen, message.data])
    })
  for (const [partition, seen] of out) {
    const first = Number(partition.slice(1))
    assert.deepEqual(
      seen,
      Array.from({ length: MESSAGES / PARTITIONS }, (_, index) => first + index * PARTITIONS),
    )
  }
})
