import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutgoingRun } from '../protocol/run.ts'
import { runOf } from '../../test/kit/run-world.ts'
import { plainJobs } from './plain-jobs.ts'

const plain = runOf('job', { runId: 'a', maxAttempts: 5, backoffMs: 1_000, backoffMaxMs: 60_000 })

test('jobs that hold their input and one policy are plain, however many', () => {
  const expected = { action: 'job', policy: ['0', '0', '5', '1000', '60000'] }
  assert.deepEqual(plainJobs([plain]), expected)
  assert.deepEqual(plainJobs([plain, { ...plain, runId: 'b', input: '2' }]), expected)
  const later = { ...plain, priority: -3, delayMs: 10 }
  assert.deepEqual(plainJobs([later, later]), { action: 'job', policy: ['-3', '10', '5', '1000', '60000'] })
})

test('one run with anything more, or with another policy, makes none of them plain', () => {
  const more: readonly Partial<OutgoingRun>[] = [
    { workflow: 'other' },
    { kind: 'code' },
    { kind: 'graph' },
    { kind: null },
    { key: 'k' },
    { tags: [] },
    { deadlineMs: 1 },
    { limitKey: '' },
    { priority: 1 },
    { delayMs: 1 },
    { maxAttempts: 1 },
    { maxAttempts: null },
    { backoffMs: 1 },
    { backoffMaxMs: 1 },
  ]
  for (const one of more) assert.equal(plainJobs([plain, { ...plain, ...one }]), null, JSON.stringify(one))
  for (const one of more.filter((given) => !('workflow' in given || 'priority' in given || 'delayMs' in given))) {
    if (one.maxAttempts === 1 || one.backoffMs !== undefined || one.backoffMaxMs !== undefined) continue
    assert.equal(plainJobs([{ ...plain, ...one }]), null, JSON.stringify(one))
  }
  assert.equal(plainJobs([]), null)
})
