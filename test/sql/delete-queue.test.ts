// The deletion of a queue: its name is free at once, its leases are dead, and pushes in flight end in one queue or the other.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { deleteQueue } from '../../src/operations/delete-queue.ts'
import { extend } from '../../src/operations/extend.ts'
import { listDeadLetters } from '../../src/operations/list-dead-letters.ts'
import { listQueues } from '../../src/operations/list-queues.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { stage } from '../../src/operations/stage.ts'
import type { Param } from '../../src/db/executor.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { drain } from '../kit/drain.ts'
import { ackOf, item, popOf } from '../kit/speech.ts'
import { doorOf } from './kv-operations.ts'

test('after a deletion the same name is a fresh queue: no messages, duplicates, groups, options or dead letters', async (t) => {
  const { database } = await createTestDatabase(t)
  await configure(database, { queue: 'q', namespace: null, task: null, options: { retryLimit: 0 }, mode: 'merge' })
  await push(database, [item('q', 'p', 'm1'), item('q', 'p', 'm2')])
  const { answers } = await pop(database, popOf('q', 'g'))
  const leased = answers.flat()
  assert.equal(leased.length, 2)
  await ack(database, [leased.slice(0, 1).map((one) => ackOf(one, 'dlq'))])
  assert.equal((await listDeadLetters(database, { queue: 'q' })).entries.length, 1)

  assert.deepEqual(await deleteQueue(database, 'q'), { existed: true })
  assert.deepEqual(await deleteQueue(database, 'q'), { existed: false })
  assert.deepEqual(await listQueues(database), [])
  assert.deepEqual((await listDeadLetters(database)).entries, [])

  const [again] = await push(database, [item('q', 'p', 'm1')])
  assert.deepEqual([again?.status, again?.offset], ['queued', 0])
  const fresh = await drain({ database }, 'q', 'g')
  assert.deepEqual(
    fresh.map(({ transactionId }) => transactionId),
    ['m1'],
  )
  assert.equal((await listQueues(database))[0]?.options.retryLimit, 3)
})

test('a lease of a deleted queue acks nothing and is extended no more', async (t) => {
  const { database } = await createTestDatabase(t)
  await push(database, [item('q', 'p', 'm1')])
  const { answers } = await pop(database, popOf('q', 'g'))
  const [leased] = answers.flat()
  assert.ok(leased)
  await deleteQueue(database, 'q')
  await push(database, [item('q', 'p', 'other')])
  const [[result] = []] = await ack(database, [[ackOf(leased)]])
  assert.equal(result?.success, false)
  assert.deepEqual(await extend(database, leased.leaseId, 60), { renewed: 0, expiresAt: null })
})

test('what was staged and committed before goes with the queue; what commits after makes it anew', async (t) => {
  const own = await createTestDatabase(t)
  const { database, connect } = own
  await push(database, [item('q', 'p', 'm1')])
  const early = await connect()
  await stage(doorOf(early), [item('q', 'p', 'early')])
  const late = await connect()
  await late.query('begin')
  await stage(doorOf(late), [item('q', 'p', 'late')])
  await deleteQueue(database, 'q')
  await late.query('commit')
  const seen = await drain(own, 'q', 'g')
  assert.deepEqual(
    seen.map(({ transactionId, offset }) => [transactionId, offset]),
    [['late', 0]],
  )
})

test('much that is staged is moved out of the way by visits, so that the deletion itself is short', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  const rows = LIMITS.placedPerVisit * 3 + 7
  await database.rows(
    `insert into lockstep.staged (queue_name, partition_name, seq, id, transaction_id, payload)
     select 'q', 'p' || n % 5, nextval('lockstep.staged_seq'), gen_random_uuid(), 'm' || n, '1' from generate_series(1, $1::int) n`,
    [String(rows)],
  )
  const calls: string[] = []
  const counted = {
    rows: async (statement: string, params: readonly Param[]) => {
      calls.push(statement)
      const [left] = await database.reader.rows('select count(*) from lockstep.staged', [])
      const answer = await database.rows(statement, params)
      const deleted = statement.includes('delete_queue') && answer[0]?.[0] !== null
      if (deleted) assert.ok(Number(left?.[0]) <= LIMITS.placedPerVisit)
      return answer
    },
  }
  assert.deepEqual(await deleteQueue(counted, 'q'), { existed: true })
  assert.equal(calls.length, 7)
  assert.deepEqual(await database.rows('select 1 from lockstep.staged', []), [])
  assert.deepEqual(await drain(own, 'q', 'g'), [])
  assert.deepEqual(await deleteQueue(database, 'never'), { existed: false })
  assert.deepEqual(await database.rows(`select 1 from lockstep.queue where name = 'never'`, []), [])
})

test('a push waiting for a partition of the queue that is deleted goes to the new queue of that name', async (t) => {
  const own = await createTestDatabase(t)
  const { a, b } = await openSessions(own, ['a', 'b'])
  const { database } = own
  await push(database, [item('q', 'p', 'm1')])
  await a.run('begin')
  await a.run(`select 1 from lockstep.partition where name = 'p' for no key update`)
  const pushing = `select status from lockstep.push_joined('{q}', '{p}', '{m2}', '{2}', '{null}', '{null}', array[lockstep.uuid7()])`
  assert.equal(await b.start(pushing), 'blocked')
  await deleteQueue(database, 'q')
  await a.run('commit')
  assert.deepEqual(await b.result(), { rows: [['queued']] })
  const seen = await drain(own, 'q', 'g')
  assert.deepEqual(
    seen.map(({ transactionId, offset }) => [transactionId, offset]),
    [['m2', 0]],
  )
})

test('deleting and pushing at once: whatever is answered queued after the last deletion is there', async (t) => {
  const own = await createTestDatabase(t, { connections: 8 })
  const { database } = own
  const answered: string[][] = []
  const state = { deleting: true }
  const pushers = Array.from({ length: 4 }, async (_, worker) => {
    for (let n = 0; state.deleting; n++) {
      const name = `${worker}-${n}`
      const results = await push(database, [item('q', `p${n % 3}`, name), item('q', `x${name}`, name)])
      assert.ok(results.every(({ status }) => status === 'queued'))
    }
    const last: string[] = []
    for (let n = 0; n < 5; n++) {
      last.push(`${worker}-last-${n}`)
      await push(database, [item('q', `p${n % 3}`, `${worker}-last-${n}`)])
    }
    answered.push(last)
  })
  for (let n = 0; n < 25; n++) await deleteQueue(database, 'q')
  state.deleting = false
  await Promise.all(pushers)
  const seen = new Set((await drain(own, 'q', 'g')).map(({ transactionId }) => transactionId))
  for (const name of answered.flat()) assert.ok(seen.has(name), name)
})
