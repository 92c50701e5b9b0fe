import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogFields } from './logger.ts'
import { tellUpkeep } from './tell-upkeep.ts'

test('a job that goes on failing is told once a minute, and once when it works again', () => {
  const told: [string, LogFields][] = []
  let clock = 0
  const tell = tellUpkeep(
    {
      info: (event, fields = {}) => told.push([event, fields]),
      error: (event, fields = {}) => told.push([event, fields]),
    },
    () => clock,
  )
  const step = (job: string, error: unknown, done = 0): void => tell({ job, done, seconds: 0, error })
  const away = new Error('PostgreSQL cannot be reached')

  step('expire_kv', null)
  for (clock = 0; clock < 120_000; clock += 500) step('expire_kv', away)
  step('fire_timers', away)
  step('expire_kv', null, 3)
  step('expire_kv', null, 3)
  step('expire_kv', away)
  step('cut_logs', null, 2)

  const message = 'PostgreSQL cannot be reached'
  assert.deepEqual(told, [
    ['a step of upkeep failed', { job: 'expire_kv', message, failures: 1 }],
    ['a step of upkeep failed', { job: 'expire_kv', message, failures: 121 }],
    ['a step of upkeep failed', { job: 'fire_timers', message, failures: 1 }],
    ['a job of upkeep works again', { job: 'expire_kv', failures: 240 }],
    ['a step of upkeep failed', { job: 'expire_kv', message, failures: 1 }],
    ['retention let messages go', { messages: 2 }],
  ])
})
