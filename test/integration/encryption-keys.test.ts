// The keys themselves: repeats are known across a change of key, dead letters are sealed anew where they go, a rotation seals
// everything with the current key, and a name belongs to one key.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep } from 'lockstep'
import { createBroker } from '../../src/broker/create-broker.ts'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { getTimer } from '../../src/operations/get-timer.ts'
import { listDeadLetters } from '../../src/operations/list-dead-letters.ts'
import { push } from '../../src/operations/push.ts'
import { redriveDeadLetter } from '../../src/operations/redrive-dead-letter.ts'
import { reseal, SEALED_TABLES } from '../../src/operations/reseal.ts'
import { timers } from '../../src/operations/timers.ts'
import { transaction as step } from '../../src/operations/transaction.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { ackOf, item, stepOf } from '../kit/speech.ts'
import { exchange } from '../http/served.ts'
import { codeOf, encrypted, key, payloads, popAll, withKeys } from '../kit/with-keys.ts'

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

test('a client with the keys replays sealed dead letters, one or all of them; one without them moves none', async (t) => {
  const own = await createTestDatabase(t)
  const { connectionString } = own
  const knowing = new Lockstep({ connectionString, encryptionKeys: `k1:${key()}`, logger: { warn() {} } })
  const blind = new Lockstep({ connectionString, logger: { warn() {} } })
  t.after(async () => Promise.all([knowing.close(), blind.close()]))
  await knowing.queue('q').config({ encryptionEnabled: true }).create()
  const queue = knowing.queue('q').group('g').subscriptionMode('all').batch(10)
  await queue.push(['a', 'b', 'c'].map((data) => ({ data, transactionId: data })))
  await knowing.ack(await queue.wait(true).pop(), 'dlq')

  const { messages } = await knowing.deadLetters.list({ queue: 'q' })
  assert.deepEqual(messages.map(({ data }) => String(data)).toSorted(), ['a', 'b', 'c'])
  assert.deepEqual(
    (await blind.deadLetters.list({ queue: 'q' })).messages.map(({ text, encrypted: sealed }) => [text, sealed]),
    Array.from({ length: 3 }, () => [null, true]),
  )
  const [first] = messages
  assert.ok(first !== undefined)
  await assert.rejects(blind.deadLetters.replay(first.id), { code: 'encryption_key_missing' })
  await assert.rejects(blind.deadLetters.replayAll('q'), { code: 'encryption_key_missing' })
  assert.equal((await knowing.deadLetters.replay(first.id)).success, true)
  assert.deepEqual(await knowing.deadLetters.replayAll('q'), { matched: 2, moved: 2, kept: 0 })
  const back: unknown[] = []
  while (back.length < 3) {
    const found = await queue.wait(true).pop()
    back.push(...found.map(({ data }) => data))
    await knowing.ack(found)
  }
  assert.deepEqual(back.map(String).toSorted(), ['a', 'b', 'c'])
  assert.ok((await payloads(own, 'message')).every((payload) => payload.startsWith('$1:')))
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
