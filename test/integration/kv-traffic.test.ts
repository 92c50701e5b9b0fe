// Key/value requests through the traffic room: reads and writes are joined apart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../src/testing/database.ts'
import { waitFor, waitUntilBlocked } from '../../src/testing/sessions.ts'
import { createTraffic } from '../../src/traffic/traffic.ts'
import { get, put, resultsOf } from '../sql/kv-operations.ts'

test('a read is answered at once while a write beside it waits for a lock', async (t) => {
  const own = await createTestDatabase(t, { connections: 4, lockTimeoutMs: 20_000 })
  const traffic = createTraffic({ database: own.database, connections: 4 })
  await traffic.kv([put('held', '1')])
  const user = await own.connect()
  await user.query('begin')
  await user.query(`select lockstep.kv_put('t', 'held', '2', p_forever => true)`)

  // In one turn, so that they could share a call.
  const writing = traffic.kv([put('held', '3')])
  const reading = Array.from({ length: 20 }, () => traffic.kv([get('held')]))
  await waitUntilBlocked(own, 1)
  let answered = 0
  for (const read of reading) void read.then(() => (answered += 1))
  await waitFor('every read while the write still waits', () => answered === reading.length, 5_000)
  for (const answer of await Promise.all(reading)) {
    const [result] = resultsOf(answer)
    assert.ok(result?.op === 'get' && result.found && result.row.value === '1')
  }
  await user.query('commit')
  assert.equal((await writing).ok, true)
  const [after] = resultsOf(await traffic.kv([get('held')]))
  assert.ok(after?.op === 'get' && after.found && after.row.value === '3')
  await traffic.drain()
})

test('sixty-four writers of one key at once each get a version of their own', async (t) => {
  const own = await createTestDatabase(t, { connections: 4 })
  const traffic = createTraffic({ database: own.database, connections: 4 })
  const answers = await Promise.all(Array.from({ length: 64 }, (_, at) => traffic.kv([put('k', String(at))])))
  const versions = answers.map((answer) => {
    const [result] = resultsOf(answer)
    assert.ok(result && 'applied' in result && result.applied)
    return result.version
  })
  assert.equal(new Set(versions).size, 64)
  await traffic.drain()
})
