// Encryption at rest: every way in seals, every way out opens, nothing plain enters an encrypted queue once keys are in use, and
// a missing key loses nothing.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createBroker } from '../../src/broker/create-broker.ts'
import { z } from 'zod'
import { action, Lockstep } from '../../src/index.ts'
import { createVault } from '../../src/db/vault/create-vault.ts'
import { readKeyRing } from '../../src/db/vault/key-ring.ts'
import { openDatabase, type Database } from '../../src/db/pool.ts'
import { transaction } from '../../src/db/transaction.ts'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { findMessage } from '../../src/operations/find-message.ts'
import { getTimer } from '../../src/operations/get-timer.ts'
import { listDeadLetters } from '../../src/operations/list-dead-letters.ts'
import { listKeys } from '../../src/operations/list-keys.ts'
import { listMessages } from '../../src/operations/list-messages.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { redriveDeadLetter } from '../../src/operations/redrive-dead-letter.ts'
import { reseal, SEALED_TABLES } from '../../src/operations/reseal.ts'
import { timers } from '../../src/operations/timers.ts'
import { transaction as step } from '../../src/operations/transaction.ts'
import { createTestDatabase, type TestDatabase, type TestEnd } from '../../src/testing/database.ts'
import type { Delivery } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { ackOf, item, popOf, stepOf } from '../kit/speech.ts'
import { exchange } from '../http/served.ts'

const key = (): string => randomBytes(32).toString('base64')
const encrypted = {
  namespace: null,
  task: null,
  mode: 'merge',
  options: { encryptionEnabled: true, retryDelay: 0 },
} as const

function withKeys(t: TestEnd, own: TestDatabase, ring: string | null): Database {
  const vault = ring === null ? undefined : createVault(readKeyRing(ring))
  const database = openDatabase({ connectionString: own.connectionString, connections: 3, vault })
  t.after(() => database.close())
  return database
}

const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no fault',
    (error: unknown) => Reflect.get(Object(error), 'code'),
  )

async function payloads(own: TestDatabase, table: string): Promise<readonly string[]> {
  const rows = await own.database.reader.rows(`select payload from lockstep.${table} order by 1`, [])
  return rows.map((row) => row[0] ?? '')
}

const popAll = async (db: Database, queue: string, over: object = {}): Promise<readonly Delivery[]> =>
  (await pop(db, popOf(queue, 'g', over))).answers.flat()

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
})

test('repeats are told from conflicts, plain and staged, before and after a rotation', async (t) => {
  const own = await createTestDatabase(t)
  const [first, second] = [`k1:${key()}`, `k2:${key()}`]
  const db = withKeys(t, own, first)
  await configure(db, { queue: 'q', ...encrypted })
  await push(db, [item('q', 'p', 'a', '1')])
  const rotated = withKeys(t, own, `${second},${first}`)
  for (const one of [db, rotated]) {
    const results = await push(one, [item('q', 'p', 'a', '1'), item('q', 'p', 'a', '2'), item('q', 'p', 'a', '1')])
    assert.deepEqual(
      results.map((each) => [each.status, each.conflict]),
      [
        ['duplicate', false],
        ['duplicate', true],
        ['duplicate', false],
      ],
    )
    for (const [payload, conflict] of [
      ['1', false],
      ['2', true],
    ] as const) {
      const [lost] = await step(one, [stepOf({ pushes: [item('q', 'p', 'a', payload)] })])
      assert.ok(typeof lost === 'object' && !lost.success && lost.reason === 'duplicate')
      assert.equal(lost.conflict, conflict)
    }
  }
  const twins = await push(rotated, [item('q', 'p', 'b', '1'), item('q', 'p', 'b', '1'), item('q', 'p', 'b', '2')])
  assert.deepEqual(
    twins.map((each) => [each.status, each.conflict]),
    [
      ['queued', false],
      ['duplicate', false],
      ['duplicate', true],
    ],
  )
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

test('a dead letter is opened in lists, and moved back, or elsewhere, sealed anew for its place', async (t) => {
  const own = await createTestDatabase(t)
  const ring = `k1:${key()}`
  const db = withKeys(t, own, ring)
  await configure(db, { queue: 'q', ...encrypted })
  await configure(db, { queue: 'open', ...encrypted, options: {} })
  await push(
    db,
    ['a', 'b', 'c', 'd'].map((name) => item('q', 'p', name)),
  )
  await push(db, [item('open', 'p', 'plain')])
  for (const queue of ['q', 'open']) {
    await ack(db, [(await popAll(db, queue)).map((each) => ackOf(each, 'dlq'))])
  }
  const letters = (await listDeadLetters(db)).entries
  assert.deepEqual(letters.map((each) => `${each.payload} ${each.encrypted}`).toSorted(), [
    '"a" true',
    '"b" true',
    '"c" true',
    '"d" true',
    '"plain" false',
  ])
  const idOf = (name: string): string => letters.find((each) => each.transactionId === name)?.id ?? ''
  assert.equal(await codeOf(redriveDeadLetter(own.database, idOf('a'))), 'encryption_key_missing')
  assert.equal(await codeOf(redriveDeadLetter(own.database, idOf('plain'), { queue: 'q' })), 'encryption_required')
  assert.equal((await redriveDeadLetter(db, idOf('a'))).result, 'moved')
  assert.equal((await redriveDeadLetter(db, idOf('b'), { queue: 'open', partition: 'x' })).result, 'moved')
  assert.equal((await redriveDeadLetter(db, idOf('plain'), { queue: 'q' })).result, 'moved')
  const broker = createBroker({ connectionString: own.connectionString, port: 0, encryptionKeys: ring })
  await broker.start()
  t.after(() => broker.stop())
  const many = await exchange(broker.address, 'POST', '/api/v1/dlq/replay', { queue: 'q' })
  assert.deepEqual([many.json.matched, many.json.moved, many.json.kept], [2, 2, 0], many.text)
  const back = await popAll(db, 'q', { batch: 100 })
  assert.deepEqual(back.map((each) => each.payload).toSorted(), ['"a"', '"c"', '"d"', '"plain"'])
  assert.deepEqual(
    (await popAll(db, 'open')).map((each) => each.payload),
    ['"b"'],
  )
  const rest = await payloads(own, 'message')
  assert.deepEqual(
    rest.filter((payload) => !payload.startsWith('$1:')),
    ['"plain"'],
    'the one pushed to the open queue',
  )
})

test('a rotation seals everything with the current key, what was plain too; then the old key is not needed', async (t) => {
  const own = await createTestDatabase(t)
  const [first, second] = [`k1:${key()}`, `k2:${key()}`]
  const before = withKeys(t, own, first)
  await push(before, [item('q', 'p', 'early', '"early"'), item('open', 'p', 'open', '"open"')])
  await configure(before, { queue: 'q', ...encrypted })
  await push(before, [item('q', 'p', 'a', '1'), item('q', 'p', 'bad', '2'), item('q', 'p', 'dead', '3')])
  const dead = (await popAll(before, 'q', { batch: 1 })).map((each) => ackOf(each, 'dlq'))
  await ack(before, [dead])
  await timers(before, [
    [
      {
        op: 'schedule',
        queue: 'q',
        key: 't',
        partition: 'p',
        delayMs: 3_600_000,
        transactionId: 'x',
        payload: '4',
        producerSub: null,
        messageId: mintId(),
      },
    ],
  ])
  await own.database.rows(
    `update lockstep.message set payload = overlay(payload placing 'AAAA' from length(payload) - 4) where transaction_id = 'bad'`,
    [],
  )
  const ring = withKeys(t, own, `${second},${first}`)
  const done: Record<string, number> = {}
  const unopened: string[] = []
  for (const table of SEALED_TABLES) {
    let after: string | null = null
    do {
      const one = await reseal(ring, table, after)
      done[table] = (done[table] ?? 0) + one.resealed
      unopened.push(...one.unopened.values())
      after = one.next
    } while (after !== null)
  }
  assert.deepEqual(done, { message: 3, staged: 0, dead_letter: 1, timer: 1 })
  assert.match(unopened.join(), /was changed or moved/)
  for (const table of SEALED_TABLES) assert.equal((await reseal(ring, table, null)).resealed, 0)
  const only = withKeys(t, own, second)
  assert.equal((await getTimer(only, 'q', 't'))?.payload, '4')
  assert.deepEqual(
    (await listDeadLetters(only)).entries.map((each) => each.payload),
    ['"early"'],
  )
  assert.deepEqual(
    (await payloads(own, 'message')).filter((each) => !each.startsWith('$1:')),
    ['"open"'],
  )
  assert.equal(await codeOf(reseal(own.database, 'message', null)), 'encryption_required')
})

test('another key under a known name stops the start; without any keys ever, a queue is only warned about', async (t) => {
  const own = await createTestDatabase(t)
  const plain = createBroker({ connectionString: own.connectionString, port: 0 })
  await plain.start()
  t.after(() => plain.stop())
  const body = { queue: 'q', options: { encryptionEnabled: true } }
  const configured = await exchange(plain.address, 'POST', '/api/v1/configure', body)
  assert.deepEqual([configured.status, configured.json.options.encryptionEnabled], [200, true])
  assert.match(configured.json.warning, /no encryption keys/)
  const pushed = await exchange(plain.address, 'POST', '/api/v1/push', { items: [{ queue: 'q', payload: 1 }] })
  assert.equal(pushed.status, 201)

  const keyed = createBroker({ connectionString: own.connectionString, port: 0, encryptionKeys: `k1:${key()}` })
  await keyed.start()
  t.after(() => keyed.stop())
  const sure = await exchange(keyed.address, 'POST', '/api/v1/configure', body)
  assert.equal(sure.json.warning, undefined)
  const refused = await exchange(plain.address, 'POST', '/api/v1/push', { items: [{ queue: 'q', payload: 2 }] })
  assert.deepEqual([refused.status, refused.json.code], [400, 'encryption_required'])
  await exchange(keyed.address, 'POST', '/api/v1/push', { items: [{ queue: 'q', payload: 3, transactionId: 't' }] })
  const popped = await exchange(keyed.address, 'GET', '/api/v1/pop/queue/q?batch=10&autoAck=true')
  assert.deepEqual(
    popped.json.messages.map((message: { data: unknown }) => message.data),
    [1, 3],
  )
  const { partitionId } = popped.json.messages[1]
  const trace = { transactionId: 't', partitionId, data: {}, traceNames: ['traced'] }
  assert.equal((await exchange(keyed.address, 'POST', '/api/v1/traces', trace)).status, 201)
  const traced = await exchange(keyed.address, 'GET', '/api/v1/traces/by-name/traced')
  assert.equal(traced.json.traces[0].message_payload, 3)
  const shown = await exchange(keyed.address, 'GET', `/api/v1/messages/${partitionId}/t`)
  assert.deepEqual([shown.json.data, shown.json.isEncrypted], [3, true])
  const unseen = await exchange(plain.address, 'GET', `/api/v1/messages/${partitionId}/t`)
  assert.deepEqual([unseen.json.data, unseen.json.isEncrypted], [null, true])
  const other = createBroker({ connectionString: own.connectionString, port: 0, encryptionKeys: `k1:${key()}` })
  await assert.rejects(other.start(), /the encryption key k1 is another one than the key of that name used before/)
})
