// The application's role: with `migrate --grant` and nothing else it can run every operation; without, none.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { openDatabase } from '../../src/db/pool.ts'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { deleteGroup } from '../../src/operations/delete-group.ts'
import { deleteQueue } from '../../src/operations/delete-queue.ts'
import { extend } from '../../src/operations/extend.ts'
import { findMessage } from '../../src/operations/find-message.ts'
import { groupDetail } from '../../src/operations/group-detail.ts'
import { kvIn } from '../../src/operations/kv-in.ts'
import { kv } from '../../src/operations/kv.ts'
import { listDeadLetters } from '../../src/operations/list-dead-letters.ts'
import { listGroups } from '../../src/operations/list-groups.ts'
import { listMessages } from '../../src/operations/list-messages.ts'
import { listQueues } from '../../src/operations/list-queues.ts'
import { matchingQueues } from '../../src/operations/matching-queues.ts'
import { pop } from '../../src/operations/pop.ts'
import { purgeDeadLetters } from '../../src/operations/purge-dead-letters.ts'
import { purgeMessageLetters } from '../../src/operations/purge-message-letters.ts'
import { push } from '../../src/operations/push.ts'
import { queueDepth } from '../../src/operations/queue-depth.ts'
import { redriveDeadLetter } from '../../src/operations/redrive-dead-letter.ts'
import { redriveDeadLetters } from '../../src/operations/redrive-dead-letters.ts'
import { release } from '../../src/operations/release.ts'
import { seekGroup } from '../../src/operations/seek-group.ts'
import { setSubscription } from '../../src/operations/set-subscription.ts'
import { showQueue } from '../../src/operations/show-queue.ts'
import { stage } from '../../src/operations/stage.ts'
import { transactionIn } from '../../src/operations/transaction-in.ts'
import { transaction } from '../../src/operations/transaction.ts'
import { administer, createTestDatabase } from '../../src/testing/database.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'
import { doorOf, get, getPrefix, put } from './kv-operations.ts'

test('every operation runs with the rights that a grant gives, and touches no table by itself', async (t) => {
  const own = await createTestDatabase(t)
  const role = `lockstep_app_${randomBytes(4).toString('hex')}`
  await administer((client) => client.query(`create role ${role} login password 'app'`))
  t.after(() => administer((client) => client.query(`drop role ${role}`)))
  const url = new URL(own.connectionString)
  url.username = role
  url.password = 'app'
  const db = openDatabase({ connectionString: url.href, connections: 2 })
  t.after(() => db.close())
  await assert.rejects(listQueues(db))
  await migrate(own.database, { grant: role })

  await configure(db, { queue: 'q', namespace: null, task: null, options: { retryLimit: 0 }, mode: 'merge' })
  await push(db, [item('q', 'a', 'm1'), item('q', 'a', 'm2'), item('q', 'b', 'm3')])
  const [first, second, third] = (await pop(db, popOf('q', 'g'))).answers.flat()
  assert.ok(first && second && third)
  await extend(db, first.leaseId, 60)
  await ack(db, [[ackOf(first, 'dlq', { error: 'no' })]])
  await transaction(db, [
    stepOf({ acks: [ackOf(third)], pushes: [item('out', 'a', 'o1')], kv: [put('k', '1')], requestId: 'r' }),
  ])
  await release(db, first.leaseId)
  await kv(db, [[get('k'), getPrefix('k')], [put('k', '2')]])

  const tx = await db.checkOut()
  await tx.client.query('begin')
  const door = doorOf(tx.client)
  await stage(door, [item('q', 'a', 'm4')])
  await kvIn(door, [put('j', '1'), get('j')])
  await transactionIn(door, stepOf({ pushes: [item('q', 'c', 'm5')], kv: [put('l', '1')] }))
  await tx.client.query('commit')
  tx.release()

  assert.equal((await listQueues(db)).length, 2)
  assert.ok(await showQueue(db, 'q'))
  assert.ok(await queueDepth(db, 'q', 'g'))
  assert.deepEqual(await matchingQueues(db, { namespace: null, task: null }), ['out', 'q'])
  assert.equal((await listGroups(db)).length, 1)
  assert.ok((await groupDetail(db, 'g')).length > 0)
  assert.ok((await listMessages(db)).entries.length > 0)
  assert.ok(await findMessage(db, first.partitionId, 'm1'))
  const [letter] = (await listDeadLetters(db)).entries
  assert.ok(letter)
  assert.equal((await redriveDeadLetter(db, letter.id)).result, 'moved')
  const all = { queue: 'q', group: null, partition: null, error: null, from: null, to: null }
  await redriveDeadLetters(db, all)
  await purgeDeadLetters(db, all)
  await purgeMessageLetters(db, first.partitionId, 'm1')
  await seekGroup(db, { group: 'g', queue: 'q', to: 'start' })
  await seekGroup(db, { group: 'g', queue: 'q', partition: 'a', to: 'end' })
  await setSubscription(db, 'g', '2026-01-01T00:00:00Z')
  await deleteGroup(db, { group: 'g', queue: null })
  await deleteQueue(db, 'q')
  for (const table of ['queue', 'message', 'kv', 'lane'])
    await assert.rejects(db.rows(`select 1 from lockstep.${table}`, []), /permission denied/)
})
