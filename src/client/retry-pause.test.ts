import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockstepError } from '../protocol/errors.ts'
import { pauseBefore } from './retry-pause.ts'

const once = { repeatable: false, parked: false }
const twice = { repeatable: true, parked: false }
const answer = (status: number, retryAfter: string | null = null): { status: number; retryAfter: string | null } => ({
  status,
  retryAfter,
})

test('a 4xx is never repeated, except 429', () => {
  for (const status of [400, 401, 403, 404, 409, 413]) {
    assert.equal(pauseBefore(2, new LockstepError('bad_request', ''), answer(status), twice), null)
  }
})

test('429 waits as long as the broker says, give or take a fifth, else twice as long each time', () => {
  const full = new LockstepError('overloaded', '')
  const told = pauseBefore(2, full, answer(429, '3'), once)
  assert.ok(told !== null && told >= 2_400 && told <= 3_600)
  const bases = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]
  for (const [index, base] of bases.entries()) {
    const pause = pauseBefore(index + 2, full, answer(429), once)
    assert.ok(pause !== null && pause >= base * 0.8 && pause <= base * 1.2, `attempt ${index + 2}: ${pause}`)
  }
  assert.equal(pauseBefore(11, full, answer(429), once), null)
  assert.notEqual(pauseBefore(1_000, full, answer(429), { repeatable: true, parked: true }), null)
})

test('a queue that is full is told at once: it is a verdict on the queue, not on the broker’s load', () => {
  assert.equal(pauseBefore(2, new LockstepError('queue_full', ''), answer(429), twice), null)
})

test('a 5xx or a lost connection is repeated after one and two seconds, three attempts in all', () => {
  const fault = new LockstepError('internal', '')
  for (const answered of [answer(500), null]) {
    assert.equal(pauseBefore(2, fault, answered, twice), 1_000)
    assert.equal(pauseBefore(3, fault, answered, twice), 2_000)
    assert.equal(pauseBefore(4, fault, answered, twice), null)
  }
})

test('what may have been done is repeated only when an id makes the repeat harmless', () => {
  assert.equal(pauseBefore(2, new LockstepError('internal', ''), answer(500), once), null)
  assert.equal(pauseBefore(2, new LockstepError('outcome_unknown', ''), null, once), null)
  assert.equal(pauseBefore(2, new LockstepError('outcome_unknown', ''), answer(503), once), null)
  assert.equal(pauseBefore(2, new LockstepError('outcome_unknown', ''), answer(503), twice), 1_000)
  for (const code of ['unavailable', 'busy', 'timeout', 'draining'] as const) {
    assert.equal(pauseBefore(2, new LockstepError(code, ''), answer(503), once), 1_000)
  }
})

test('a database that the code cannot serve is not asked again', () => {
  assert.equal(pauseBefore(2, new LockstepError('schema_outdated', ''), answer(503), twice), null)
})
