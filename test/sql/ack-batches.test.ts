// A call that completes a leased batch by its ids is carried out as a batch; what it answers is what item by item would.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import type { Database } from '../../src/db/pool.ts'
import type { AckItem, AckStatus, Delivery } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import { createTestDatabase } from '../../src/testing/database.ts'

async function filled(t: TestContext, partitions: readonly string[]): Promise<Database> {
  const { database } = await createTestDatabase(t)
  for (const partition of partitions) {
    await push(
      database,
      Array.from({ length: 10 }, (_, at) => ({
        queue: 'q',
        partition,
        transactionId: `${partition}-${at}`,
        payload: String(at),
        traceId: null,
        producerSub: null,
        messageId: mintId(),
      })),
    )
  }
  return database
}

async function take(db: Database, partition: string, batch = 10): Promise<readonly Delivery[]> {
  for (;;) {
    const { answers, again } = await pop(db, {
      queue: 'q',
      partition,
      group: 'g',
      leaseIds: [mintId()],
      batch,
      partitions: 1,
      leaseSeconds: 60,
      autoAck: false,
      start: { mode: 'all' },
      floor: null,
      waitStaged: false,
    })
    if (again !== 'backfill' || answers[0]?.length !== 0) return answers[0] ?? []
  }
}

function said(messages: readonly Delivery[], status: AckStatus = 'completed'): AckItem[] {
  return messages.map((message) => ({
    partitionId: message.partitionId,
    transactionId: message.transactionId,
    offset: null,
    status,
    error: null,
    leaseId: message.leaseId,
    group: 'g',
  }))
}

const verdicts = (answers: Awaited<ReturnType<typeof ack>>): string[] =>
  answers.map((call) => call.map((one) => (one.success ? (one.leaseReleased ? 'R' : '+') : '-')).join(''))

test('a batch named whole and in order is completed and its lease released; said again it is answered the same', async (t) => {
  const db = await filled(t, ['a'])
  const messages = await take(db, 'a')
  const call = said(messages)
  assert.deepEqual(verdicts(await ack(db, [call])), ['RRRRRRRRRR'])
  assert.deepEqual(verdicts(await ack(db, [call])), ['RRRRRRRRRR'])
  assert.equal((await take(db, 'a')).length, 0)
})

test('the first part of a batch keeps the lease; the rest follows under it', async (t) => {
  const db = await filled(t, ['a'])
  const messages = await take(db, 'a')
  assert.deepEqual(verdicts(await ack(db, [said(messages.slice(0, 6))])), ['++++++'])
  assert.equal((await take(db, 'a')).length, 0)
  assert.deepEqual(verdicts(await ack(db, [said(messages.slice(6))])), ['RRRR'])
})

test('another order and an unknown id among them are judged item by item', async (t) => {
  const db = await filled(t, ['a', 'b'])
  const backwards = said((await take(db, 'a')).toReversed())
  const other = said(await take(db, 'b'))
  const strange = other.map((item, at) => (at === 3 ? { ...item, transactionId: 'nobody' } : item))
  assert.deepEqual(verdicts(await ack(db, [backwards, strange])), ['RRRRRRRRRR', 'RRR-RRRRRR'])
})

test('joined calls are judged each alone: a batch, a lapsed lease, a failure, a stranger', async (t) => {
  const db = await filled(t, ['a', 'b', 'c'])
  const [a, b, c] = [await take(db, 'a'), await take(db, 'b'), await take(db, 'c')]
  const lapsed = said(b).map((item) => ({ ...item, leaseId: mintId() }))
  const failed = said(c.slice(0, 5), 'failed')
  const stranger = said(a.slice(0, 1)).map((item) => ({ ...item, partitionId: 'x' }))
  const answers = await ack(db, [said(a), lapsed, failed, stranger])
  assert.deepEqual(verdicts(answers), ['RRRRRRRRRR', '----------', 'RRRRR', '-'])
  assert.match(answers[1]?.[0]?.error ?? '', /lease/)
  assert.equal((await take(db, 'b')).length, 0, 'the live lease still holds')
})

test('a batch does not overtake an earlier call on its lane', async (t) => {
  const db = await filled(t, ['a'])
  const messages = await take(db, 'a')
  const answers = await ack(db, [said(messages.slice(0, 1), 'failed'), said(messages)])
  assert.equal(answers[0]?.[0]?.success, true)
})
