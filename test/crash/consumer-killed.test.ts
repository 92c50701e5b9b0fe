// A consumer that is killed while its handler runs: its messages come back when the lease that it kept alive has lapsed, to any
// other consumer, in order, and the lapse is counted as a crash of the message it held.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { packageRoot } from '../../src/db/sql-files.ts'
import { createTestDatabase } from '../../src/testing/database.ts'

const LEASE_SECONDS = 2

for (const way of ['http', 'postgres']) {
  test(`${way}: what a killed consumer held is delivered again within its lease and two seconds`, async (t) => {
    const { connectionString, database } = await createTestDatabase(t)
    const broker = createBroker({ connectionString, port: 0 })
    await broker.start()
    t.after(async () => broker.stop())
    const lockstep = new Lockstep({ connectionString, logger: { warn() {} } })
    t.after(async () => lockstep.close())
    await lockstep.queue('q').config({ leaseTime: LEASE_SECONDS }).create()
    await lockstep.queue('q').push([1, 2, 3].map((data) => ({ data, transactionId: `t-${data}` })))

    const place = way === 'http' ? broker.address : connectionString
    const child = spawn(
      process.execPath,
      [join(packageRoot(), '.build', 'test', 'crash', 'slow-consumer.js'), way, place, 'q'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const [held] = await once(child.stdout, 'data')
    assert.equal(String(held), 'holding t-1\n')
    // Longer than the lease: it is alive and keeps what it holds.
    await new Promise((resolve) => setTimeout(resolve, LEASE_SECONDS * 1_000 + 500))
    assert.deepEqual(await lockstep.queue('q').group('g').pop(), [])
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited

    const started = performance.now()
    const seen: number[] = []
    await lockstep
      .queue('q')
      .group('g')
      .each()
      .limit(3)
      .consume(async (message) => {
        seen.push(message.data)
        if (seen.length > 1) return
        const waited = performance.now() - started
        assert.ok(waited <= (LEASE_SECONDS + 2) * 1_000, `${waited} ms`)
        assert.equal(message.deliveryAttempt, 2)
        const lanes = await database.rows('select crashes, failures from lockstep.lane', [])
        assert.deepEqual(lanes, [['1', '0']])
      })
    assert.deepEqual(seen, [1, 2, 3])
  })
}
