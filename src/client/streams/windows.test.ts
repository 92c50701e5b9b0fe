import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { instantMs, startsOf, windowPlan } from './windows.ts'

test('an instant belongs to every window that holds it, and to no other', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -1e12, max: 4e12 }),
      fc.integer({ min: 1, max: 5_000 }),
      fc.integer({ min: 1, max: 20 }),
      (at, everyMs, times) => {
        const sizeMs = everyMs * times - (everyMs > 1 ? 1 : 0)
        const plan = windowPlan('fixed', `${sizeMs < everyMs ? everyMs : sizeMs}ms`, { every: `${everyMs}ms` })
        const starts = startsOf(plan, at)
        const first = Math.floor((at - plan.sizeMs) / everyMs) * everyMs
        const holding = Array.from({ length: times + 3 }, (_, n) => first + n * everyMs).filter(
          (start) => start <= at && at < start + plan.sizeMs,
        )
        assert.deepEqual(starts, holding)
      },
    ),
  )
})

test('windows that do not overlap stand side by side on the epoch', () => {
  const minute = windowPlan('fixed', '1m', {})
  assert.deepEqual([minute.graceMs, minute.late, minute.everyMs], [1_000, 'next', 60_000])
  assert.deepEqual(
    [0, 59_999, 60_000, -1].map((at) => startsOf(minute, at)),
    [[0], [0], [60_000], [-60_000]],
  )
})

test('a time is a Date, milliseconds or ISO text, and nothing else', () => {
  assert.equal(instantMs(new Date(5)), 5)
  assert.equal(instantMs(5.9), 5)
  assert.equal(instantMs('1970-01-01T00:00:01.500250Z'), 1_500)
  for (const bad of [Number.NaN, new Date(Number.NaN), 'yesterday', Infinity, 9e15]) {
    assert.throws(() => instantMs(bad), /time must give a Date, epoch milliseconds or ISO text/)
  }
})
