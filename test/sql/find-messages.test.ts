// Looking messages up and paging through them: every message once, with where it stands for its groups.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ack } from '../../src/operations/ack.ts'
import { findMessage } from '../../src/operations/find-message.ts'
import { listMessages } from '../../src/operations/list-messages.ts'
import { listQueues } from '../../src/operations/list-queues.ts'
import { matchingQueues } from '../../src/operations/matching-queues.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { configure } from '../../src/operations/configure.ts'
import { showQueue } from '../../src/operations/show-queue.ts'
import type { ListedMessage } from '../../src/protocol/found-message.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import type { Page } from '../../src/protocol/page.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { drain } from '../kit/drain.ts'
import { ackOf, item, popOf } from '../kit/speech.ts'

test('a message is pending, processing, completed or a dead letter, for each group by itself', async (t) => {
  const { database } = await createTestDatabase(t)
  await push(database, [
    item('sales.eu', 'a', 'm1', '{"n":1.10}'),
    item('sales.eu', 'a', 'm2'),
    item('sales.eu', 'a', 'm3'),
  ])
  const [listed] = (await listMessages(database, { queue: 'sales.eu' })).entries
  const partitionId = listed?.partitionId ?? ''
  const find = (name: string) => findMessage(database, partitionId, name)
  assert.deepEqual([(await find('m1'))?.status, (await find('m1'))?.consumerGroups], ['pending', []])

  const [first, second] = (await pop(database, popOf('sales.eu', 'g', { batch: 2 }))).answers.flat()
  assert.ok(first && second)
  const leased = await find('m1')
  assert.equal(leased?.status, 'processing')
  assert.match(leased?.consumerGroups[0]?.leaseExpiresAt ?? '', /Z$/)
  assert.equal((await find('m3'))?.status, 'pending')

  await ack(database, [[ackOf(first)]])
  await drain({ database }, 'sales.eu', 'other')
  assert.equal((await find('m1'))?.status, 'completed')
  assert.deepEqual((await find('m2'))?.consumerGroups, [
    { group: 'g', consumed: false, leaseExpiresAt: leased?.consumerGroups[0]?.leaseExpiresAt },
    { group: 'other', consumed: true, leaseExpiresAt: null },
  ])
  await ack(database, [[ackOf(second, 'dlq', { error: 'broken' })]])
  const buried = await find('m2')
  assert.deepEqual([buried?.status, buried?.errorMessage], ['dead_letter', 'broken'])

  const found = await find('m1')
  assert.deepEqual(
    { ...found, id: '', createdAt: '', queueOptions: {}, consumerGroups: [] },
    {
      id: '',
      transactionId: 'm1',
      traceId: null,
      producerSub: null,
      payload: '{"n":1.10}',
      encrypted: false,
      createdAt: '',
      queue: 'sales.eu',
      namespace: 'sales',
      task: 'eu',
      partitionId,
      partition: 'a',
      offset: 0,
      status: 'completed',
      queueOptions: {},
      retryCount: 0,
      errorMessage: null,
      consumerGroups: [],
    },
  )
  assert.equal(found?.queueOptions.leaseTime, 60)
})

test('an address that names nothing finds nothing', async (t) => {
  const { database } = await createTestDatabase(t)
  await push(database, [item('q', 'a', 'm1')])
  const [listed] = (await listMessages(database)).entries
  assert.equal(await findMessage(database, listed?.partitionId ?? '', 'other'), null)
  assert.equal(await findMessage(database, '999000000000001', 'm1'), null)
  for (const partitionId of ['', 'x', '1', '-1', '99999999999999999999999', `1' or 1=1`])
    assert.equal(await findMessage(database, partitionId, 'm1'), null)
})

test('a failure is counted on the message at the cursor', async (t) => {
  const { database } = await createTestDatabase(t)
  await push(database, [item('q', 'a', 'm1'), item('q', 'a', 'm2')])
  const [first] = (await pop(database, popOf('q', 'g'))).answers.flat()
  assert.ok(first)
  await ack(database, [[ackOf(first, 'failed', { error: 'no' })]])
  assert.equal((await findMessage(database, first.partitionId, 'm1'))?.retryCount, 1)
  assert.equal((await findMessage(database, first.partitionId, 'm2'))?.retryCount, 0)
})

test('paging through messages of one instant gives every message once, in any page size', async (t) => {
  const { database } = await createTestDatabase(t)
  const names = Array.from({ length: 50 }, (_, at) => `m${at}`)
  await push(
    database,
    names.map((name, at) => item('q', `p${at % 4}`, name)),
  )
  for (const limit of [1, 7, 50, 100]) {
    const seen: string[] = []
    for (let skip = 0; ; skip += limit) {
      const page = (await listMessages(database, { queue: 'q', limit, skip })).entries
      seen.push(...page.map(({ transactionId }) => transactionId))
      if (page.length < limit) break
    }
    assert.equal(seen.length, 50)
    assert.deepEqual(seen.toSorted(), names.toSorted())
  }
  const seen: (number | null)[] = []
  let before: number | null = null
  do {
    const { entries: page }: Page<ListedMessage> = await listMessages(database, {
      queue: 'q',
      partition: 'p1',
      limit: 4,
      before,
    })
    seen.push(...page.map(({ offset }) => offset))
    before = page.length === 4 ? (page.at(-1)?.offset ?? null) : null
  } while (before !== null)
  assert.deepEqual(seen, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
})

test('a page of large payloads ends early and says so; the next begins behind its last entry', async (t) => {
  const { database } = await createTestDatabase(t)
  const payload = JSON.stringify('x'.repeat(LIMITS.listBytes / 4))
  const names = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6']
  for (const name of names) await push(database, [{ ...item('q', 'p', name), payload }])
  const [message] = (await pop(database, popOf('q', 'g'))).answers.flat()
  assert.ok(message)
  const seen: string[] = []
  const cuts: boolean[] = []
  for (let skip = 0; skip < names.length;) {
    const page = await listMessages(database, { queue: 'q', limit: 100, skip })
    seen.push(...page.entries.map(({ transactionId }) => transactionId))
    cuts.push(page.cut)
    skip += page.entries.length
  }
  assert.deepEqual(seen, names.toReversed())
  assert.deepEqual(cuts, [true, false])
  await push(database, [{ ...item('q', 'p', 'huge'), payload: JSON.stringify('x'.repeat(LIMITS.listBytes * 2)) }])
  const first = await listMessages(database)
  const skip = first.entries.length
  const rest = await listMessages(database, { queue: 'q', limit: 1, skip })
  assert.deepEqual([first.entries.length, first.cut, rest.entries.length, rest.cut], [1, true, 1, false])
})

test('messages are filtered by queue, labels, time and status', async (t) => {
  const { database } = await createTestDatabase(t)
  for (const name of ['m1', 'm2', 'm3']) await push(database, [item('a.b', 'p', name)])
  await push(database, [item('q', 'p', 'other')])
  const [first, second] = (await pop(database, popOf('a.b', 'g', { batch: 2 }))).answers.flat()
  assert.ok(first && second)
  await ack(database, [[ackOf(first)]])
  const list = async (filter: Parameters<typeof listMessages>[1]) =>
    (await listMessages(database, filter)).entries.map(({ transactionId }) => transactionId)
  assert.deepEqual(await list({}), ['other', 'm3', 'm2', 'm1'])
  assert.deepEqual(await list({ namespace: 'a' }), ['m3', 'm2', 'm1'])
  assert.deepEqual(await list({ task: 'b', status: 'completed' }), ['m1'])
  assert.deepEqual(await list({ queue: 'a.b', status: 'processing' }), ['m2'])
  assert.deepEqual(await list({ queue: 'a.b', status: 'pending' }), ['m3'])
  assert.deepEqual(await list({ queue: 'a.b', status: 'dead_letter' }), [])
  assert.deepEqual(await list({ from: second.createdAt, queue: 'a.b' }), ['m3', 'm2'])
  assert.deepEqual(await list({ to: second.createdAt }), ['m1'])
  assert.deepEqual(await list({ queue: `a.b' or true--` }), [])
})

test('queues are listed with counts against their slowest group, and shown with their partitions', async (t) => {
  const { database } = await createTestDatabase(t)
  await push(database, [item('q', 'a', 'm1'), item('q', 'a', 'm2'), item('q', 'b', 'm3'), item('q', 'c', 'm4')])
  const counts = async () => (await listQueues(database))[0]?.messages
  assert.deepEqual(await counts(), { total: 4, pending: 4, processing: 0, completed: 0, deadLetter: 0 })
  await drain({ database }, 'q', 'fast')
  assert.deepEqual(await counts(), { total: 4, pending: 0, processing: 0, completed: 4, deadLetter: 0 })
  const [first] = (await pop(database, popOf('q', 'slow', { partition: 'a' }))).answers.flat()
  assert.ok(first)
  assert.deepEqual(await counts(), { total: 4, pending: 2, processing: 2, completed: 0, deadLetter: 0 })
  await ack(database, [[ackOf(first, 'dlq', { error: 'no' })]])
  assert.deepEqual(await counts(), { total: 4, pending: 3, processing: 0, completed: 1, deadLetter: 1 })

  const shown = await showQueue(database, 'q', { limit: 2 })
  assert.deepEqual(
    shown?.partitionList.map(({ partition, messages, cursor }) => [partition, messages, cursor]),
    [
      ['a', { total: 2, pending: 1, processing: 0, completed: 1, deadLetter: 1 }, 1],
      ['b', { total: 1, pending: 1, processing: 0, completed: 0, deadLetter: 0 }, 0],
    ],
  )
  assert.equal(shown?.partitions, 3)
  assert.equal(shown?.partitionList[0]?.partitionId, first.partitionId)
  const rest = await showQueue(database, 'q', { limit: 2, after: shown?.nextAfter ?? '' })
  assert.deepEqual([rest?.partitionList.map(({ partition }) => partition), rest?.nextAfter], [['c'], null])
  assert.equal(await showQueue(database, 'none'), null)
})

test('a discovery finds queues by their labels, highest priority first', async (t) => {
  const { database } = await createTestDatabase(t)
  for (const [queue, priority] of [
    ['x.one', 1],
    ['x.two', 5],
    ['y.one', 9],
    ['plain', 0],
  ] as const)
    await configure(database, { queue, namespace: null, task: null, options: { priority }, mode: 'merge' })
  assert.deepEqual(await matchingQueues(database, { namespace: 'x', task: null }), ['x.two', 'x.one'])
  assert.deepEqual(await matchingQueues(database, { namespace: null, task: 'one' }), ['y.one', 'x.one'])
  assert.deepEqual(await matchingQueues(database, { namespace: 'x', task: 'one' }), ['x.one'])
  assert.deepEqual(await matchingQueues(database, { namespace: null, task: null }), [
    'y.one',
    'x.two',
    'x.one',
    'plain',
  ])
  assert.deepEqual(
    (await listQueues(database, { namespace: 'x' })).map(({ queue }) => queue),
    ['x.one', 'x.two'],
  )
})
