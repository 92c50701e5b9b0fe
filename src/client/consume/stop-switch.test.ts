// The switch that ends a consumer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pauseUnless, stopSwitch } from './stop-switch.ts'

test('a switch tells each that asked once, and those that come late at once', () => {
  const stop = stopSwitch()
  const told: string[] = []
  stop.onThrown(() => told.push('a'))
  const forget = stop.onThrown(() => told.push('b'))
  forget()
  assert.equal(stop.thrown, false)
  stop.throw()
  stop.throw()
  stop.onThrown(() => told.push('c'))
  assert.deepEqual([stop.thrown, told], [true, ['a', 'c']])
})

test('a pause ends with its time or with the switch', async () => {
  const stop = stopSwitch()
  await pauseUnless(stop, 1)
  const long = pauseUnless(stop, 60_000)
  stop.throw()
  await long
  await pauseUnless(stop, 60_000)
})
