import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFailingJobs } from './failing-jobs.ts'

test('a job that goes on failing is told once a minute, and once when it works again', () => {
  let clock = 0
  const judge = createFailingJobs(() => clock)
  const told: unknown[] = []
  const step = (job: string, error: unknown): void => {
    const worth = judge({ job, done: 0, seconds: 0, error })
    if (worth !== null) told.push([job, worth.works, worth.failures])
  }
  const away = new Error('PostgreSQL cannot be reached')

  step('expire_kv', null)
  for (clock = 0; clock < 120_000; clock += 500) step('expire_kv', away)
  step('fire_timers', away)
  step('expire_kv', null)
  step('expire_kv', null)
  step('expire_kv', away)

  assert.deepEqual(told, [
    ['expire_kv', false, 1],
    ['expire_kv', false, 121],
    ['fire_timers', false, 1],
    ['expire_kv', true, 240],
    ['expire_kv', false, 1],
  ])
})
