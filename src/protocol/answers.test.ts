import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeAck, encodeKv, encodePop, encodePush, encodeTransaction } from './answers.ts'
import type { Delivery, PushResult } from './message.ts'
import type { StepOperation, TransactionResult } from './transaction.ts'

const json = fc.json()
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })

const delivery: fc.Arbitrary<Delivery> = fc.record({
  id: fc.uuid(),
  transactionId: name,
  traceId: fc.option(name),
  payload: json,
  producerSub: fc.option(name),
  createdAt: fc.constant('2026-10-02T09:14:03.512887Z'),
  queue: name,
  partitionId: fc.constantFrom('1000000000001', '1000000000002'),
  partition: name,
  leaseId: fc.constant('lease'),
  consumerGroup: name,
  deliveryAttempt: fc.integer({ min: 1, max: 9 }),
  offset: fc.nat(),
})

test('a pop’s answer is the JSON of its deliveries, payloads as they stand', () => {
  fc.assert(
    fc.property(name, name, fc.array(delivery, { minLength: 1, maxLength: 8 }), (queue, group, messages) => {
      const text = encodePop(queue, group, messages)
      const answer: unknown = JSON.parse(text)
      const expected = messages.map((message) => {
        const { payload, queue: _queue, ...fields } = message
        // The partition's name belongs to its id, the lease and the group to the pop.
        const first = messages.find((each) => each.partitionId === message.partitionId)
        return { ...fields, data: JSON.parse(payload) as unknown, consumerGroup: group, partition: first?.partition }
      })
      const sorted = messages.toSorted((a, b) => a.partitionId.localeCompare(b.partitionId))
      if (JSON.stringify(sorted.map((m) => m.partitionId)) !== JSON.stringify(messages.map((m) => m.partitionId)))
        return
      assert.deepEqual(Reflect.get(Object(answer), 'messages'), expected)
      for (const { payload } of messages) assert.ok(text.includes(`"data":${payload},"producerSub"`))
    }),
  )
})

const result = (more: Partial<PushResult> = {}): PushResult => ({
  status: 'queued',
  messageId: 'm',
  transactionId: 't',
  offset: 3,
  conflict: false,
  error: null,
  ...more,
})

const item = {
  queue: 'q"',
  partition: 'p',
  transactionId: 't',
  payload: '1',
  traceId: null,
  producerSub: null,
  messageId: 'm',
}

test('refused items keep their place among a push’s answers', () => {
  const refused = new Map([[1, { queue: 'bad', transactionId: 'x', error: 'why "so"' }]])
  const text = encodePush({ requestId: null, items: [item, item], refused }, [
    result(),
    result({ status: 'duplicate', offset: null, conflict: true }),
  ])
  assert.deepEqual(JSON.parse(text), [
    { index: 0, message_id: 'm', transaction_id: 't', queueName: 'q"', status: 'queued', offset: 3 },
    {
      index: 1,
      message_id: '00000000-0000-0000-0000-000000000000',
      transaction_id: 'x',
      queueName: 'bad',
      status: 'error',
      error: 'why "so"',
    },
    { index: 2, message_id: 'm', transaction_id: 't', queueName: 'q"', status: 'duplicate', conflict: true },
  ])
})

test('refused acks keep their place among the answers', () => {
  const request = {
    requestId: null,
    items: [],
    refused: new Map([[0, 'unknown status']]),
    transactionIds: ['a', null],
  }
  const done = { success: true, error: null, leaseReleased: true, dlq: false, noop: false }
  assert.deepEqual(JSON.parse(encodeAck(request, [done])), [
    {
      index: 0,
      transactionId: 'a',
      success: false,
      error: 'unknown status',
      leaseReleased: false,
      dlq: false,
      noop: false,
    },
    { index: 1, transactionId: null, ...done },
  ])
})

test('values are written unparsed, also a lost one', () => {
  const lost = encodeKv({
    ok: false,
    reason: 'kv_precondition',
    failedIndex: 2,
    kvReason: 'version',
    value: '1e400',
    version: 7,
  })
  assert.equal(
    lost,
    '{"ok":false,"reason":"kv_precondition","failedIndex":2,"kvReason":"version","version":7,"value":1e400}',
  )
  const row = { key: 'k"', value: '9007199254740993', version: 1, expiresAt: null, updatedAt: 'now' }
  const got = encodeKv({ ok: true, results: [{ op: 'get', found: true, row }] })
  assert.equal(
    got,
    '{"results":[{"index":0,"op":"get","found":true,"key":"k\\"","value":9007199254740993,"version":1,"expiresAt":null,"updatedAt":"now"}]}',
  )
})

test('every way a transaction can be lost is JSON with its reason', () => {
  const operations: readonly StepOperation[] = [{ type: 'push', item }]
  const losses: readonly TransactionResult[] = [
    {
      success: false,
      reason: 'kv_precondition',
      failedIndex: 1,
      kvReason: 'absent',
      value: null,
      version: null,
      error: 'e',
    },
    { success: false, reason: 'rejected_ack', failedIndex: 0, error: 'rolled back "here"' },
    { success: false, reason: 'duplicate', failedIndex: 0, conflict: true, messageId: 'm', error: 'e' },
    { success: false, reason: 'queue_full', failedIndex: 0, error: 'e' },
    { success: false, reason: 'request_conflict', error: 'e' },
  ]
  for (const loss of losses) {
    const answer: unknown = JSON.parse(encodeTransaction('id', { operations, timers: [] }, loss))
    const { success, reason, error, transactionId, results } = Object(answer)
    assert.deepEqual(
      { success, reason, error, transactionId, results },
      {
        success: false,
        reason: loss.success ? '' : loss.reason,
        error: loss.success ? '' : loss.error,
        transactionId: 'id',
        results: [],
      },
    )
  }
})
