// Dead letters: listed by filter, moved back or removed one by one and in bulk; a message is in the log or among the dead
// letters, never in both and never in neither.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { deleteQueue } from '../../src/operations/delete-queue.ts'
import { listDeadLetters } from '../../src/operations/list-dead-letters.ts'
import { pop } from '../../src/operations/pop.ts'
import { purgeDeadLetters } from '../../src/operations/purge-dead-letters.ts'
import { purgeMessageLetters } from '../../src/operations/purge-message-letters.ts'
import { push } from '../../src/operations/push.ts'
import { redriveDeadLetter } from '../../src/operations/redrive-dead-letter.ts'
import { redriveDeadLetters } from '../../src/operations/redrive-dead-letters.ts'
import type { DeadLetterSelection } from '../../src/protocol/dead-letter.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { createTestDatabase, type TestDatabase } from '../../src/testing/database.ts'
import { openSessions } from '../../src/testing/sessions.ts'
import { drain } from '../kit/drain.ts'
import { ackOf, item, popOf } from '../kit/speech.ts'

const everything = (queue: string, more: Partial<DeadLetterSelection> = {}): DeadLetterSelection => ({
  queue,
  group: null,
  partition: null,
  error: null,
  from: null,
  to: null,
  ...more,
})

/** Pushes the names to the partition and buries each for the group, with its own error. */
async function bury(own: TestDatabase, partition: string, names: readonly string[], group = 'g'): Promise<void> {
  await push(
    own.database,
    names.map((name) => item('q', partition, name, `{"name":"${name}","n":9007199254740993,"z":"\\u0000"}`)),
  )
  for (const name of names) {
    const [message] = (await pop(own.database, popOf('q', group, { partition, batch: 1 }))).answers.flat()
    assert.equal(message?.transactionId, name)
    const [[result] = []] = await ack(own.database, [[ackOf(message, 'dlq', { error: `no ${name}` })]])
    assert.deepEqual([result?.success, result?.dlq], [true, true])
  }
}

const namesOf = (list: readonly { transactionId: string }[]): readonly string[] => list.map((one) => one.transactionId)

test('a page of large dead letters ends early and says so', async (t) => {
  const own = await createTestDatabase(t)
  const names = ['m1', 'm2', 'm3', 'm4', 'm5']
  await bury(own, 'a', names)
  await own.database.rows(`update lockstep.dead_letter set payload = '"' || repeat('x', $1::int) || '"'`, [
    String(LIMITS.listBytes / 4),
  ])
  const first = await listDeadLetters(own.database)
  const rest = await listDeadLetters(own.database, { offset: first.entries.length })
  assert.deepEqual([first.cut, rest.cut], [true, false])
  assert.deepEqual(namesOf([...first.entries, ...rest.entries]), names.toReversed())
})

test('dead letters are listed newest first, with all that the message had', async (t) => {
  const own = await createTestDatabase(t)
  await bury(own, 'a', ['m1', 'm2'])
  await bury(own, 'b', ['m3'])
  const [newest, ...older] = (await listDeadLetters(own.database, { queue: 'q' })).entries
  assert.deepEqual(namesOf([...(newest ? [newest] : []), ...older]), ['m3', 'm2', 'm1'])
  assert.deepEqual(
    { ...newest, id: '', messageId: '', createdAt: '', failedAt: '' },
    {
      id: '',
      messageId: '',
      transactionId: 'm3',
      partitionId: newest?.partitionId,
      queue: 'q',
      partition: 'b',
      group: 'g',
      offset: 0,
      cause: 'forced',
      error: 'no m3',
      failures: newest?.failures,
      crashes: 0,
      payload: '{"name":"m3","n":9007199254740993,"z":"\\u0000"}',
      encrypted: false,
      traceId: null,
      producerSub: null,
      createdAt: '',
      failedAt: '',
    },
  )
})

test('filters narrow the list: queue, group, partition, time; limit and offset page it', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await bury(own, 'a', ['m1', 'm2'])
  await bury(own, 'b', ['m3'], 'h')
  const all = (await listDeadLetters(database)).entries
  const list = async (page: Parameters<typeof listDeadLetters>[1]) =>
    namesOf((await listDeadLetters(database, page)).entries)
  assert.deepEqual(await list({ group: 'h' }), ['m3'])
  assert.deepEqual(await list({ partition: 'a' }), ['m2', 'm1'])
  assert.deepEqual(await list({ queue: 'none' }), [])
  assert.deepEqual(await list({ queue: `q' or true --` }), [])
  const middle = all[1]?.failedAt ?? ''
  assert.deepEqual(await list({ from: middle }), ['m3', 'm2'])
  assert.deepEqual(await list({ to: middle }), ['m1'])
  assert.deepEqual(await list({ limit: 1, offset: 1 }), ['m2'])
  assert.deepEqual(await list({ limit: 2, offset: 2 }), ['m1'])
})

test('a redrive moves a copy to the end of its partition and removes the row', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await bury(own, 'a', ['m1'])
  await push(database, [item('q', 'a', 'm2')])
  const [letter] = (await listDeadLetters(database)).entries
  assert.ok(letter)
  const redriven = await redriveDeadLetter(database, letter.id)
  assert.deepEqual(
    { ...redriven, messageId: typeof redriven.messageId },
    {
      result: 'moved',
      queue: 'q',
      partition: 'a',
      group: 'g',
      originalTransactionId: 'm1',
      messageId: 'string',
      transactionId: `dlq:${letter.id}`,
    },
  )
  assert.notEqual(redriven.messageId, letter.messageId)
  assert.deepEqual((await listDeadLetters(database)).entries, [])
  const seen = await drain(own, 'q', 'g')
  assert.deepEqual(namesOf(seen), ['m2', `dlq:${letter.id}`])
  assert.equal(seen[1]?.payload, letter.payload)
  assert.equal(seen[1]?.id, redriven.messageId)
  assert.equal((await redriveDeadLetter(database, letter.id)).result, 'gone')
})

test('a redrive can name another queue and partition, which must be there', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await bury(own, 'a', ['m1'])
  const [letter] = (await listDeadLetters(database)).entries
  assert.ok(letter)
  assert.equal((await redriveDeadLetter(database, letter.id, { queue: 'none' })).result, 'queue_not_found')
  assert.equal((await listDeadLetters(database)).entries.length, 1)
  await configure(database, { queue: 'other', namespace: null, task: null, options: {}, mode: 'merge' })
  const redriven = await redriveDeadLetter(database, letter.id, { queue: 'other', partition: 'z' })
  assert.deepEqual([redriven.result, redriven.queue, redriven.partition], ['moved', 'other', 'z'])
  const [seen] = await drain(own, 'other', 'x')
  assert.deepEqual([seen?.partition, seen?.transactionId], ['z', `dlq:${letter.id}`])
})

test('a redrive into a deleted or a full queue fails and the row stays', async (t) => {
  const own = await createTestDatabase(t)
  const { database, connect } = own
  await bury(own, 'a', ['m1', 'm2'])
  const [letter] = (await listDeadLetters(database)).entries
  assert.ok(letter)
  const full = { queue: 'full', namespace: null, task: null, options: { maxSize: 1 }, mode: 'merge' } as const
  await configure(database, full)
  await push(database, [item('full', 'a', 'x')])
  assert.equal((await redriveDeadLetter(database, letter.id, { queue: 'full' })).result, 'queue_full')
  assert.equal((await listDeadLetters(database)).entries.length, 2)
  await deleteQueue(database, 'q')
  assert.equal((await redriveDeadLetter(database, letter.id)).result, 'gone')
  assert.equal((await redriveDeadLetter(database, letter.id, { queue: 'q' })).result !== 'moved', true)
  const client = await connect()
  const { rowCount } = await client.query('select 1 from lockstep.dead_letter where id = $1', [letter.id])
  assert.equal(rowCount, 1)
  assert.deepEqual(await drain(own, 'q', 'g'), [])
})

test('a copy that is still known inside the window is a duplicate: nothing is written, the row is kept', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await bury(own, 'a', ['m1'])
  const [letter] = (await listDeadLetters(database)).entries
  assert.ok(letter)
  const [known] = await push(database, [item('q', 'a', `dlq:${letter.id}`, letter.payload ?? '')])
  const redriven = await redriveDeadLetter(database, letter.id)
  assert.deepEqual([redriven.result, redriven.messageId], ['duplicate', known?.messageId])
  assert.equal((await listDeadLetters(database)).entries.length, 1)
  assert.deepEqual(await redriveDeadLetters(database, everything('q')), { matched: 1, moved: 0, kept: 1, sealed: [] })
})

test('a redrive cut before its commit has moved nothing; its repetition moves the message once', async (t) => {
  const own = await createTestDatabase(t)
  const { database, connect } = own
  await bury(own, 'a', ['m1'])
  const [letter] = (await listDeadLetters(database)).entries
  assert.ok(letter)
  const killer = await connect()
  const where = async (): Promise<readonly [number, number]> => {
    const { rows } = await killer.query<{ letters: string; staged: string; log: string }>(
      `select (select count(*) from lockstep.dead_letter) as letters, (select count(*) from lockstep.staged) as staged,
              (select count(*) from lockstep.message where transaction_id like 'dlq:%') as log`,
    )
    return [Number(rows[0]?.letters), Number(rows[0]?.staged) + Number(rows[0]?.log)]
  }
  for (const work of [
    `select lockstep.redrive_dead_letter('${letter.id}')`,
    `select lockstep.redrive_dead_letters('q')`,
    `select lockstep.redrive_dead_letter('${letter.id}'), lockstep._place_for_pop(q.id, 'q', null, 0, false) from lockstep.queue q`,
  ]) {
    const client = await connect()
    await client.query('begin')
    await client.query(work)
    const pid: unknown = Reflect.get(client, 'processID')
    await killer.query('select pg_terminate_backend($1, 5000)', [pid])
    assert.deepEqual(await where(), [1, 0])
  }
  assert.equal((await redriveDeadLetter(database, letter.id)).result, 'moved')
  assert.deepEqual(await where(), [0, 1])
  assert.deepEqual(namesOf(await drain(own, 'q', 'g')), [`dlq:${letter.id}`])
})

test('two redrives of one row at once move it once', async (t) => {
  const own = await createTestDatabase(t)
  await bury(own, 'a', ['m1'])
  const [letter] = (await listDeadLetters(own.database)).entries
  assert.ok(letter)
  const { a, b } = await openSessions(own, ['a', 'b'])
  const redrive = `select result from lockstep.redrive_dead_letter('${letter.id}')`
  await a.run('begin')
  assert.deepEqual(await a.run(redrive), { rows: [['moved']] })
  assert.equal(await b.start(redrive), 'blocked')
  await a.run('commit')
  assert.deepEqual(await b.result(), { rows: [['gone']] })
  assert.equal((await drain(own, 'q', 'g')).length, 1)
})

test('the deletion of the target queue waits for a redrive in flight', async (t) => {
  const own = await createTestDatabase(t)
  await bury(own, 'a', ['m1'])
  const [letter] = (await listDeadLetters(own.database)).entries
  const { a, b } = await openSessions(own, ['a', 'b'])
  await a.run('begin')
  await a.run(`select lockstep.redrive_dead_letter('${letter?.id ?? ''}')`)
  assert.equal(await b.start(`select lockstep.delete_queue('q')`), 'blocked')
  await a.run('commit')
  assert.deepEqual(await b.result(), { rows: [[true]] })
  // The copy came before the deletion: it is gone with the queue, not left to make a new one.
  assert.deepEqual(await drain(own, 'q', 'g'), [])
})

test('bulk redrive takes a filter, counts in a dry run, and goes through more than one commit', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  const names = Array.from({ length: 12 }, (_, at) => `m${at}`)
  await bury(own, 'a', names)
  await bury(own, 'b', ['other'])
  const client = await own.connect()
  await client.query(`insert into lockstep.dead_letter
    select d.queue_id, lockstep.uuid7(), d.partition_id, d.partition_name, 'bulk', d."offset", lockstep.uuid7(), 'bulk' || n,
           d.tx_hash, d.payload, d.trace_id, d.producer_sub, d.cause, 'bulk', 0, 0, d.created_at, d.failed_at
      from lockstep.dead_letter d, generate_series(1, 2100) n where d.transaction_id = 'other'`)
  const some = everything('q', { error: 'no m1' })
  assert.deepEqual(await redriveDeadLetters(database, some, true), { matched: 3, moved: 0, kept: 0, sealed: [] })
  assert.equal(await purgeDeadLetters(database, everything('q'), true), 2_113)
  assert.deepEqual(await redriveDeadLetters(database, some), { matched: 3, moved: 3, kept: 0, sealed: [] })
  assert.deepEqual(await redriveDeadLetters(database, everything('q', { group: 'bulk' })), {
    matched: 2_100,
    moved: 2_100,
    kept: 0,
    sealed: [],
  })
  assert.equal((await listDeadLetters(database, { limit: 1_000 })).entries.length, 10)
  assert.deepEqual(await redriveDeadLetters(database, everything('none')), {
    matched: 0,
    moved: 0,
    kept: 0,
    sealed: [],
  })
  const seen = await drain(own, 'q', 'g')
  assert.equal(seen.length, 2_103)
})

test('bulk removal takes a filter; the letters of one message go by its address', async (t) => {
  const own = await createTestDatabase(t)
  const { database } = own
  await bury(own, 'a', ['m1', 'm2', 'm3'])
  assert.equal(await purgeDeadLetters(database, everything('none')), null)
  assert.equal(await purgeDeadLetters(database, everything('q', { error: 'no m2' })), 1)
  const [letter] = (await listDeadLetters(database)).entries
  assert.equal(await purgeMessageLetters(database, letter?.partitionId ?? '', 'm1'), 1)
  assert.equal(await purgeMessageLetters(database, letter?.partitionId ?? '', 'm1'), 0)
  assert.equal(await purgeMessageLetters(database, 'nonsense', 'm1'), 0)
  assert.deepEqual(namesOf((await listDeadLetters(database)).entries), ['m3'])
  assert.equal(await purgeDeadLetters(database, everything('q')), 1)
})

test('messages buried by one call keep each its own error; one without takes the first of the call', async (t) => {
  const own = await createTestDatabase(t)
  await push(
    own.database,
    ['m1', 'm2', 'm3', 'm4'].map((name) => item('q', name === 'm4' ? 'b' : 'a', name)),
  )
  const leased = (await pop(own.database, popOf('q', 'g'))).answers.flat()
  const errors: Readonly<Record<string, string | null>> = { m1: 'no m1', m2: null, m3: 'no m3', m4: 'no m4' }
  const acks = leased.map((one) => ackOf(one, 'dlq', { error: errors[one.transactionId] ?? null }))
  await ack(own.database, [acks.toReversed()])
  const letters = (await listDeadLetters(own.database)).entries
  const told = Object.fromEntries(letters.map(({ transactionId, error }) => [transactionId, error]))
  assert.deepEqual(told, { m1: 'no m1', m2: 'no m3', m3: 'no m3', m4: 'no m4' })
})

test('ten thousand messages of one lane are buried by one call, without a step per pair of them', async (t) => {
  const own = await createTestDatabase(t)
  const names = Array.from({ length: 10_000 }, (_, at) => `m${at}`)
  await push(
    own.database,
    names.map((name) => item('q', 'a', name)),
  )
  const leased = (await pop(own.database, popOf('q', 'g', { batch: 10_000 }))).answers.flat()
  assert.equal(leased.length, 10_000)
  // A square of 10,000 took longer than the statement may.
  const [results] = await ack(own.database, [leased.map((one) => ackOf(one, 'dlq', { error: one.transactionId }))])
  assert.ok(results?.every(({ dlq }) => dlq))
  const letters = (await listDeadLetters(own.database, { limit: 1_000 })).entries
  assert.equal(letters.length, 1_000)
  assert.ok(letters.every(({ transactionId, error }) => transactionId === error))
})
