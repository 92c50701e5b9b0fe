// Encryption at rest: every way in seals, every way out opens, nothing plain enters an encrypted queue once keys are in use, and
// a missing key loses nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { action, Lockstep } from '../../src/index.ts'
import { transaction } from '../../src/db/transaction.ts'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { findMessage } from '../../src/operations/find-message.ts'
import { getTimer } from '../../src/operations/get-timer.ts'
import { listKeys } from '../../src/operations/list-keys.ts'
import { listMessages } from '../../src/operations/list-messages.ts'
import { push } from '../../src/operations/push.ts'
import { timers } from '../../src/operations/timers.ts'
import { transaction as step } from '../../src/operations/transaction.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { ackOf, item, stepOf } from '../kit/speech.ts'
import { codeOf, encrypted, key, payloads, popAll, withKeys } from '../kit/with-keys.ts'

test('pushes, transactions, staged pushes and timers are sealed at rest and come back as they were', async (t) => {
  const own = await createTestDatabase(t)
  const ring = `k1:${key()}`
  const db = withKeys(t, own, ring)
  await configure(db, { queue: 'q', ...encrypted })
  const big = '{"n":12345678901234567890,"s":"\\u0000é😀"}'
  await push(db, [item('q', 'p', 'pushed', big), item('open', 'p', 'open', '"open"')])
  await step(db, [stepOf({ pushes: [item('q', 'p', 'stepped', '"step"')] })])
  const client = new Lockstep({ connectionString: own.connectionString, encryptionKeys: ring, upkeep: false })
  t.after(() => client.close())
  const user = await own.connect()
  await user.query('begin')
  await client
    .in(user)
    .queue('q')
    .partition('p')
    .push([{ transactionId: 'joined', data: { of: 'user' } }])
  await user.query('commit')
  assert.ok((await payloads(own, 'staged')).every((payload) => payload.startsWith('$1:k1:')))
  const timer = {
    op: 'schedule',
    queue: 'q',
    key: 't',
    partition: 'p',
    delayMs: 0,
    transactionId: 'timed',
    payload: '"timer"',
    producerSub: null,
    messageId: mintId(),
  } as const
  await timers(db, [[timer]])
  assert.ok((await payloads(own, 'timer')).every((payload) => payload.startsWith('$1:k1:')))
  const shown = await getTimer(db, 'q', 't')
  assert.deepEqual([shown?.payload, shown?.encrypted], ['"timer"', true])
  await db.rows("select lockstep.fire_timers('q', array['t'])", [])

  const got: Delivery[] = []
  for (let looks = 0; looks < 4; looks += 1) {
    const some = await popAll(db, 'q')
    await ack(db, [some.map((each) => ackOf(each))])
    got.push(...some)
  }
  assert.deepEqual(
    got.map((each) => [each.transactionId, each.payload]),
    [
      ['pushed', big],
      ['stepped', '"step"'],
      ['joined', '{"of":"user"}'],
      ['timed', '"timer"'],
    ],
  )
  const atRest = await payloads(own, 'message')
  assert.deepEqual(
    atRest.map((payload) => (payload.startsWith('$1:k1:') ? 'sealed' : payload)),
    ['"open"', 'sealed', 'sealed', 'sealed', 'sealed'],
  )
  const found = await findMessage(db, got[0]?.partitionId ?? '', 'pushed')
  assert.deepEqual([found?.payload, found?.encrypted], [big, true])
  assert.deepEqual((await listMessages(db, { queue: 'q' })).entries.length, 4)
  const blind = await findMessage(own.database, got[0]?.partitionId ?? '', 'pushed')
  assert.deepEqual([blind?.payload, blind?.encrypted], [null, true])
  assert.deepEqual(
    (await listKeys(own.database)).map((each) => each.id),
    ['k1'],
  )
})

test('steps of consumers and of workflows push sealed, in the transaction that they hold', async (t) => {
  const own = await createTestDatabase(t)
  const options = { connectionString: own.connectionString, encryptionKeys: `k1:${key()}` }
  const lockstep = new Lockstep(options)
  t.after(() => lockstep.close())
  for (const queue of ['in', 'out']) await lockstep.queue(queue).config({ encryptionEnabled: true }).create()
  await lockstep.queue('in').push([{ data: { n: 1 } }])
  await lockstep
    .queue('in')
    .group('g')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (message, held) => {
      await held.queue('out').push({ data: { from: 'consumer', n: message.data.n } })
    })
  const tell = action({ name: 'tell', input: z.object({ n: z.number() }) }, async (ctx, input) => {
    await ctx.queue('out').push({ data: { from: 'action', n: input.n } })
    await ctx.completionTx()
    return null
  })
  const worker = lockstep.worker({ actions: [tell] })
  await worker.start()
  t.after(() => worker.stop())
  const run = await tell.enqueue(lockstep, { n: 2 })
  await run.result({ timeout: '30s' })
  const got: unknown[] = []
  await lockstep
    .queue('out')
    .group('g')
    .subscriptionMode('all')
    .each()
    .limit(2)
    .consume(async (message) => {
      got.push(message.data)
    })
  assert.deepEqual(got, [
    { from: 'consumer', n: 1 },
    { from: 'action', n: 2 },
  ])
  assert.ok((await payloads(own, 'message')).every((payload) => payload.startsWith('$1:k1:')))
  await worker.stop()
  await lockstep.close()
})

test('without keys nothing plain enters and nothing is leased; with them it is delivered as if nothing had been', async (t) => {
  const own = await createTestDatabase(t)
  const ring = `k1:${key()}`
  const db = withKeys(t, own, ring)
  const blind = withKeys(t, own, null)
  const stranger = withKeys(t, own, `k9:${key()}`)
  await configure(db, { queue: 'q', ...encrypted })
  await push(db, [item('q', 'p', 'a', '1')])
  assert.equal(await codeOf(push(blind, [item('q', 'p', 'b', '2')])), 'encryption_required')
  assert.equal(await codeOf(step(blind, [stepOf({ pushes: [item('q', 'p', 'b', '2')] })])), 'encryption_required')
  const user = await own.connect()
  for (const statement of [
    `select lockstep.push('q', '{"plain":true}')`,
    `select lockstep.timer_schedule('q', 'k', '{"plain":true}', interval '1 hour')`,
    `select lockstep.stage(array['q'], array['p'], array['c'], array['1'], array[null], array[null], array['${mintId()}'])`,
  ]) {
    await assert.rejects(user.query(statement), {
      code: 'LS426',
      message: /queue q is encrypted: push through a broker/,
    })
  }
  await assert.rejects(user.query(`select * from lockstep.pop('q', 'g', p_subscription_mode => 'all')`), {
    code: 'LS427',
  })
  for (const other of [blind, stranger]) {
    for (const autoAck of [false, true]) {
      assert.equal(await codeOf(popAll(other, 'q', { autoAck })), 'encryption_key_missing')
    }
  }
  const got = await popAll(db, 'q')
  assert.deepEqual(
    got.map((each) => [each.payload, each.deliveryAttempt]),
    [['1', 1]],
  )
  assert.deepEqual(await payloads(own, 'dead_letter'), [])
  await ack(db, [got.map((each) => ackOf(each))])
})

test('a process that does not know yet that a queue was encrypted seals at the second try', async (t) => {
  const own = await createTestDatabase(t)
  const ring = `k1:${key()}`
  const db = withKeys(t, own, ring)
  await push(db, [item('q', 'p', 'plain', '0')])
  await configure(withKeys(t, own, ring), { queue: 'q', ...encrypted })
  const results = await push(db, [item('q', 'p', 'sealed', '1')])
  assert.equal(results[0]?.status, 'queued')
  const kept = await payloads(own, 'message')
  assert.deepEqual(
    kept.map((payload) => payload.slice(0, 3)),
    ['$1:', '0'],
  )
  await configure(withKeys(t, own, ring), { queue: 'r', ...encrypted, options: { encryptionEnabled: false } })
  await push(db, [item('r', 'p', 'plain', '0')])
  await configure(withKeys(t, own, ring), { queue: 'r', ...encrypted })
  const within = transaction(db, (tx) => push(tx, [item('r', 'p', 'x', '1')]))
  assert.equal(await codeOf(within), 'unavailable', 'an open transaction must begin again')
  assert.equal((await transaction(db, (tx) => push(tx, [item('r', 'p', 'x', '1')])))[0]?.status, 'queued')
})

test('rows that were swapped do not open; their neighbours are delivered', async (t) => {
  const own = await createTestDatabase(t)
  const db = withKeys(t, own, `k1:${key()}`)
  await configure(db, { queue: 'q', ...encrypted })
  await push(db, [
    item('q', 'p', 'a', '1'),
    item('q', 'p', 'b', '2'),
    item('q', 'p', 'c', '3'),
    item('q', 'other', 'd', '4'),
  ])
  await own.database.rows(
    `update lockstep.message m set payload = o.payload from lockstep.message o
      where m.queue_id = o.queue_id and (m.transaction_id, o.transaction_id) in (('b', 'c'), ('c', 'b'))`,
    [],
  )
  const got = await popAll(db, 'q')
  assert.deepEqual(got.map((each) => each.transactionId).toSorted(), ['a', 'd'])
  await ack(db, [got.map((each) => ackOf(each))])
  await own.database.rows(
    `update lockstep.lane set lease_expires_at = lockstep.clock(), available_at = lockstep.clock()`,
    [],
  )
  assert.equal(await codeOf(popAll(db, 'q')), 'payload_tampered')
  assert.equal(await codeOf(popAll(db, 'q', { autoAck: true })), 'no fault', 'its lease is still live')
})
