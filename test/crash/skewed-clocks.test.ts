// CASES B26: brokers and workers whose clocks are an hour behind, an hour ahead and more than a year ahead share one database
// in odd time zones. Only the database's clock decides: no lease ends early, nothing fires twice or before its time.
import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import { Lockstep } from 'lockstep'
import { reportAbsence } from '../../src/testing/absence.ts'
import { administer, createTestDatabase } from '../../src/testing/database.ts'
import { waitFor } from '../../src/testing/sessions.ts'
import { findFaketime } from '../../tools/tests/find-faketime.ts'
import { exchange, type Reply } from '../http/served.ts'
import { long } from './skewed-process.ts'

const PROGRAM = fileURLToPath(new URL('skewed-process.js', import.meta.url))
const HOUR_MS = 3_600_000
const SKEWS = [
  { faketime: '-1h', skewMs: -HOUR_MS, zone: 'Asia/Tokyo' },
  { faketime: '+1h', skewMs: HOUR_MS, zone: 'America/St_Johns' },
  { faketime: '+400d', skewMs: 400 * 24 * HOUR_MS, zone: 'UTC' },
] as const

interface Skewed {
  readonly address: string
  /** Of its clock against this one. */
  readonly skewMs: number
  readonly send: (schedule: string) => void
}

function skewed(library: string, url: string, skew: (typeof SKEWS)[number]): ChildProcess {
  return fork(PROGRAM, [], {
    env: {
      ...process.env,
      LOCKSTEP_SKEWED_URL: url,
      LD_PRELOAD: library,
      FAKETIME: skew.faketime,
      // Timers run on the monotonic clock, which no operator sets.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      TZ: skew.zone,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
}

async function ready(child: ChildProcess): Promise<Skewed> {
  const [{ address, now }] = await once(child, 'message')
  return { address, skewMs: now - Date.now(), send: (schedule) => void child.send(schedule) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

async function call({ address }: Skewed, method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await exchange(address, method, path, body === undefined ? undefined : JSON.stringify(body))
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply
}

const pop = async (at: Skewed, queue: string, query = ''): Promise<Reply> =>
  call(at, 'GET', `/api/v1/pop/queue/${queue}?consumerGroup=g&subscriptionMode=all&${query}`)

async function leases(sql: Client, one: Skewed, other: Skewed, queue: string): Promise<void> {
  await call(one, 'POST', '/api/v1/push', { items: [{ queue, payload: 1 }] })
  const { json: held } = await pop(one, queue, 'leaseSeconds=120')
  assert.equal((await pop(other, queue)).status, 204, 'leased is leased for whoever looks')
  const { json: extended } = await call(other, 'POST', `/api/v1/lease/${held.leaseId}/extend`, { seconds: 600 })
  assert.equal(extended.renewed, 1)
  const { rows } = await sql.query('select extract(epoch from $1::timestamptz - now())::float as left', [
    extended.expiresAt,
  ])
  assert.ok(rows[0].left > 480 && rows[0].left <= 600, `${rows[0].left} s left`)
  const [message] = held.messages
  const { transactionId, partitionId, leaseId } = message
  const ack = { transactionId, partitionId, leaseId, consumerGroup: 'g' }
  assert.equal((await call(other, 'POST', '/api/v1/ack', ack)).json[0].success, true)

  await call(one, 'POST', '/api/v1/push', { items: [{ queue, payload: 2 }] })
  const { json: short } = await pop(one, queue, 'leaseSeconds=1')
  const began = performance.now()
  const { json: again } = await pop(other, queue, 'wait=true&timeout=60000')
  assert.deepEqual([again.messages[0].data, again.messages[0].deliveryAttempt], [2, 2])
  assert.ok(performance.now() - began > 500, 'the lease was kept to its end')
  assert.notEqual(again.leaseId, short.leaseId)
}

async function timers(sql: Client, one: Skewed, other: Skewed, queue: string): Promise<void> {
  const { rows: before } = await sql.query('select clock_timestamp() as now')
  await call(one, 'POST', '/api/v1/timers', {
    operations: [{ op: 'schedule', queue, timerKey: 'k', delayMs: 1_500, data: 'due' }],
  })
  const { json } = await pop(other, queue, 'wait=true&timeout=60000')
  assert.deepEqual([json.messages.length, json.messages[0].data], [1, 'due'])
  const { rows } = await sql.query(
    `select count(*)::int as n, min(extract(epoch from m.created_at - $2::timestamptz))::float as after
       from lockstep.message m join lockstep.queue q on q.id = m.queue_id where q.name = $1`,
    [queue, before[0].now],
  )
  assert.equal(rows[0].n, 1)
  assert.ok(rows[0].after >= 1.4, `after ${rows[0].after} s`)
}

async function state(one: Skewed, other: Skewed, key: string): Promise<void> {
  const put = { op: 'put', ns: 'skew', key, value: 1, ttlSeconds: 600 }
  await call(one, 'POST', '/api/v1/kv', { operations: [put, { ...put, key: `${key}-short`, ttlSeconds: 1 }] })
  const read = async (name: string): Promise<boolean> =>
    (await call(other, 'POST', '/api/v1/kv', { operations: [{ op: 'get', ns: 'skew', key: name }] })).json.results[0]
      .found
  assert.equal(await read(key), true)
  await waitFor('the end of the short one', async () => !(await read(`${key}-short`)))
  assert.equal(await read(key), true)
}

async function work(lockstep: Lockstep): Promise<void> {
  const runs = await long.enqueueMany(
    lockstep,
    Array.from({ length: 6 }, () => ({ ms: 14_000 })),
  )
  const attempts = await Promise.all(runs.map(async (run) => run.result({ timeout: '200s' })))
  assert.deepEqual(
    attempts,
    Array.from({ length: 6 }, () => 1),
    'no claim was lost while its worker lived',
  )
}

async function schedules(sql: Client, from: readonly Skewed[]): Promise<void> {
  for (const [at, each] of from.entries()) each.send(`tick-${at}`)
  await waitFor('four slots of each', async () => {
    const { rows } = await sql.query(
      `select schedule, count(*)::int as n from lockstep.schedule_slot where outcome = 'fired' group by 1`,
    )
    return rows.length === from.length && rows.every(({ n }) => n >= 4)
  })
  const { rows: early } = await sql.query('select 1 from lockstep.schedule_slot where settled_at < due_at')
  assert.equal(early.length, 0, 'no slot before its time')
  const { rows: gaps } = await sql.query(
    `select schedule, (max(extract(epoch from due_at)) - min(extract(epoch from due_at)) + 1)::int as slots, count(*)::int as n,
            count(distinct run_id)::int as runs
       from lockstep.schedule_slot group by 1`,
  )
  for (const { schedule, slots, n, runs } of gaps) assert.deepEqual([n, runs], [slots, slots], schedule)
}

test('brokers and workers with clocks hours and a year off behave as with the right one', async (t) => {
  const library = findFaketime()
  if (library === null) return reportAbsence(t, 'libfaketime')
  const children: ChildProcess[] = []
  // Before the database's own hook: they end before it does.
  t.after(async () => {
    await Promise.all(children.map(stop))
  })
  const { name, connectionString, connect } = await createTestDatabase(t)
  await administer((client) =>
    client.query(`alter role current_user in database ${name} set timezone to 'Asia/Kathmandu'`),
  )
  children.push(...SKEWS.map((skew) => skewed(library, connectionString, skew)))
  const processes = await Promise.all(children.map(ready))
  for (const [at, { skewMs }] of processes.entries()) {
    assert.ok(
      Math.abs(skewMs - (SKEWS[at]?.skewMs ?? 0)) < HOUR_MS / 2,
      `the clock of process ${at} is off by ${skewMs} ms`,
    )
  }
  const lockstep = new Lockstep({ connectionString, connections: 4 })
  try {
    const pairs = processes.map((one, at) => ({ one, other: processes[(at + 1) % processes.length] ?? one, at }))
    await Promise.all([
      ...pairs.map(async ({ one, other, at }) => leases(await connect(), one, other, `leases-${at}`)),
      ...pairs.map(async ({ one, other, at }) => timers(await connect(), one, other, `timers-${at}`)),
      ...pairs.map(async ({ one, other, at }) => state(one, other, `k${at}`)),
      work(lockstep),
      connect().then((sql) => schedules(sql, processes)),
    ])
  } finally {
    await lockstep.close({ timeoutMs: 1_000 })
  }
})
