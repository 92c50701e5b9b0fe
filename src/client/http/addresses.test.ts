// The choice among several brokers: steady, fair, around those that failed, and back to them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAddresses } from './addresses.ts'

const BASES = ['http://a', 'http://b', 'http://c']

test('what belongs together goes to one broker, and all brokers get their share', () => {
  const addresses = createAddresses(BASES, 'me', () => 0)
  const chosen = Array.from({ length: 300 }, (_, at) => addresses.choose(`q${at}`))
  for (const base of BASES) assert.ok(chosen.filter((each) => each === base).length > 50, base)
  assert.deepEqual(
    chosen,
    Array.from({ length: 300 }, (_, at) => addresses.choose(`q${at}`)),
  )
  assert.equal(addresses.choose(null), addresses.choose(null))
})

test('a broker that failed is left alone, longer each time, and only its own requests move', () => {
  let now = 0
  const addresses = createAddresses(BASES, 'me', () => now)
  const keys = Array.from({ length: 100 }, (_, at) => `q${at}`)
  const before = keys.map((key) => addresses.choose(key))
  addresses.failed('http://b')
  const during = keys.map((key) => addresses.choose(key))
  assert.ok(!during.includes('http://b'))
  during.forEach((base, at) => assert.ok(before[at] === 'http://b' || before[at] === base))
  now = 1_000
  assert.deepEqual(
    keys.map((key) => addresses.choose(key)),
    before,
  )
  addresses.failed('http://b')
  now = 2_999
  assert.ok(!keys.map((key) => addresses.choose(key)).includes('http://b'))
  now = 3_000
  addresses.answered('http://b')
  addresses.failed('http://b')
  now = 4_000
  assert.deepEqual(
    keys.map((key) => addresses.choose(key)),
    before,
  )
})

test('when all have failed, or all were tried, there is still a choice', () => {
  const addresses = createAddresses(BASES, 'me', () => 0)
  for (const base of BASES) addresses.failed(base)
  assert.ok(BASES.includes(addresses.choose('q')))
  const tried = new Set([addresses.choose('q')])
  assert.ok(!tried.has(addresses.choose('q', tried)))
  assert.ok(BASES.includes(addresses.choose('q', new Set(BASES))))
})
