// 1,000 timers due in the same second, three brokers that all fire, one of which dies on the way: each is delivered exactly once,
// under the ids that were promised.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { timers } from '../../src/operations/timers.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { moveClock } from '../kit/clock.ts'
import { drain } from '../kit/drain.ts'
import { until } from '../kit/quiet.ts'
import { assertSound } from '../kit/soundness.ts'
import { scheduleOf } from '../kit/speech.ts'

const TIMERS = 1_000
const QUEUES = ['q0', 'q1', 'q2']

test('a thousand timers due in one second on three brokers are delivered once each', async (t) => {
  const own = await createTestDatabase(t)
  const promised = new Map<string, string>()
  for (let from = 0; from < TIMERS; from += 250) {
    const operations = Array.from({ length: 250 }, (_, at) => {
      const n = from + at
      const queue = QUEUES[n % QUEUES.length] ?? ''
      return scheduleOf(queue, `k${n}`, { partition: `p${n % 7}`, delayMs: 3_600_000 + n, transactionId: `t${n}` })
    })
    const [results = []] = await timers(own.database, [operations])
    for (const { transactionId, messageId } of results) promised.set(transactionId ?? '', messageId ?? '')
  }
  assert.equal(promised.size, TIMERS)
  const brokers = Array.from({ length: 3 }, () => createBroker({ connectionString: own.connectionString, port: 0 }))
  await Promise.all(brokers.map((broker) => broker.start()))
  try {
    await moveClock(own, 3_601)
    await until('the first of them', async () => (await left()) < TIMERS)
    // As a broker that dies: its statements end with its connections.
    const [first] = brokers
    await own.database.pool.query(
      `select pg_terminate_backend(min(pid)) from pg_stat_activity
        where datname = current_database() and application_name = 'lockstep-broker' and state = 'active'`,
    )
    await first?.stop()
    await until('all of them', async () => (await left()) === 0)
  } finally {
    await Promise.all(brokers.map((broker) => broker.stop()))
  }
  const seen = new Map<string, string>()
  for (const queue of QUEUES) {
    for (const { transactionId, id } of await drain(own, queue, 'judge')) {
      assert.equal(seen.has(transactionId), false, `${transactionId} came twice`)
      seen.set(transactionId, id)
    }
  }
  assert.equal(seen.size, TIMERS)
  for (const [transactionId, id] of promised) assert.equal(seen.get(transactionId), id, transactionId)
  await assertSound(own)

  async function left(): Promise<number> {
    const [row] = await own.database.rows('select count(*) from lockstep.timer', [])
    return Number(row?.[0])
  }
})
