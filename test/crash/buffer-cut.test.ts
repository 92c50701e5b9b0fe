// A buffer whose connection is cut while it sends: each message is stored once, in the order of the pushes, and each push hears
// that it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { startProxy } from '../../src/testing/proxy.ts'
import { cuttingProxy } from '../kit/cutting-proxy.ts'

const NUMBERS = Array.from({ length: 60 }, (_, at) => at)

async function fill(lockstep: Lockstep): Promise<void> {
  const buffer = lockstep.queue('q').buffer({ messageCount: 10, timeMillis: 5, maxSize: 20, retryDelayMillis: 10 })
  const pushes = []
  for (const data of NUMBERS) {
    const push = buffer.push({ data })
    await push.taken
    pushes.push(push)
  }
  const verdicts = (await Promise.all(pushes)).flat()
  for (const verdict of verdicts) assert.equal(verdict.status, 'queued')
}

async function stored({ database }: TestDatabase): Promise<readonly number[]> {
  const rows = await database.rows('select payload from lockstep.message order by "offset"', [])
  return rows.map(([payload]) => Number(payload))
}

test('over HTTP, answers lost more often than a call is repeated', async (t) => {
  const ground = await createTestDatabase(t)
  const broker = createBroker({ connectionString: ground.connectionString, port: 0 })
  await broker.start()
  const proxy = await cuttingProxy(broker.address)
  const lockstep = new Lockstep({ url: proxy.url, logger: { warn() {} } })
  t.after(async () => {
    await lockstep.close()
    await proxy.stop()
    await broker.stop()
  })
  proxy.cut(4)
  await fill(lockstep)
  assert.equal(proxy.cuts, 4)
  assert.deepEqual(await stored(ground), NUMBERS)
})

test('straight to PostgreSQL, cut before a commit and after one', async (t) => {
  const ground = await createTestDatabase(t)
  const proxy = await startProxy(ground.connectionString)
  const lockstep = new Lockstep({ connectionString: proxy.connectionString, upkeep: false, logger: { warn() {} } })
  t.after(async () => {
    await lockstep.close()
    await proxy.stop()
  })
  await lockstep.kv.get('o', 'none')
  const cuts = (async () => {
    await proxy.cutNext('before-commit')
    await proxy.cutNext('after-commit')
  })()
  await fill(lockstep)
  await cuts
  assert.deepEqual(await stored(ground), NUMBERS)
})
