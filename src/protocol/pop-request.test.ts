import assert from 'node:assert/strict'
import { test } from 'node:test'
import { root } from './check.ts'
import { LockstepError } from './errors.ts'
import { decodePop, instantText } from './pop-request.ts'

test('what is left out has the wire’s defaults', () => {
  assert.deepEqual(decodePop('q', null, {}, 'new'), {
    wish: {
      queue: 'q',
      partition: null,
      group: '__QUEUE_MODE__',
      batch: 200,
      partitions: 1,
      leaseSeconds: null,
      autoAck: false,
      start: { mode: 'new' },
      conflation: false,
    },
    waitMs: 0,
  })
})

test('a long poll is capped at a minute and the partition route at one partition', () => {
  const query = { wait: 'true', timeout: '3600000', partitions: '9', leaseSeconds: '-3', commitOnDelivery: 'true' }
  const { wish, waitMs } = decodePop('q', 'p', query, 'all')
  assert.deepEqual([waitMs, wish.partitions, wish.leaseSeconds, wish.autoAck], [60_000, 1, null, true])
  assert.equal(decodePop('q', null, { wait: 'true' }, 'all').waitMs, 30_000)
})

test('a start time is exact, in UTC when it names no zone, and must exist', () => {
  const read = (text: string): string => instantText(text, root(), 'from')
  assert.equal(read('2026-10-02T09:14:03.512887Z'), '2026-10-02T09:14:03.512887Z')
  assert.equal(read('2026-10-02'), '2026-10-02T00:00:00Z')
  assert.equal(read('2026-10-02T09:14'), '2026-10-02T09:14Z')
  assert.equal(read('2026-10-02T09:14:03+02:00'), '2026-10-02T09:14:03+02:00')
  for (const wrong of [
    '',
    'now()',
    '2026-13-45',
    '2026-02-30',
    '2026-10-02T25:00:00Z',
    '1e9',
    '2026-10-02T09:14:03Z; drop',
  ]) {
    assert.throws(() => read(wrong), LockstepError, wrong)
  }
})
