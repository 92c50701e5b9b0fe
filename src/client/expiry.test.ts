import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expirySeconds, type Expiry } from './expiry.ts'

test('a ttl is read in its unit', () => {
  const cases: readonly (readonly [Expiry, number | null])[] = [
    [{ ttl: '30d' }, 2_592_000],
    [{ ttl: '2h' }, 7_200],
    [{ ttl: '5m' }, 300],
    [{ ttl: '7s' }, 7],
    [{ ttl: '3000ms' }, 3],
    [{ ttlSeconds: 12 }, 12],
    [{ forever: true }, null],
  ]
  for (const [expiry, seconds] of cases) assert.equal(expirySeconds(expiry), seconds)
})

test('anything that is not one whole lifetime is refused, never rounded', () => {
  const cases: readonly unknown[] = [
    { ttl: '1w' },
    { ttl: '1.5h' },
    { ttl: '0s' },
    { ttl: '-1d' },
    { ttl: '1500ms' },
    { ttl: ' 1d' },
    { ttl: 30 },
    { ttl: '' },
    { ttlSeconds: 0 },
    { ttlSeconds: 1.5 },
    { ttlSeconds: '5' },
    { ttlSeconds: 1e12 },
    { forever: false },
    { ttl: '1d', forever: true },
    { ttlSeconds: 1, ttl: '1s' },
    {},
    undefined,
  ]
  for (const expiry of cases) {
    assert.throws(
      () => Reflect.apply(expirySeconds, undefined, [expiry]),
      { name: 'LockstepError', status: 400 },
      JSON.stringify(expiry),
    )
  }
})
