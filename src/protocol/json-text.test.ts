import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LockstepError } from './errors.ts'
import { jsonText } from './json-text.ts'

const cycle: Record<string, unknown> = { name: 'a' }
cycle['inner'] = { back: cycle }

const refused: readonly (readonly [string, unknown, string])[] = [
  ['a BigInt', { total: 1n }, 'data.total'],
  ['NaN', { list: [1, Number.NaN] }, 'data.list[1]'],
  ['Infinity', [[Number.POSITIVE_INFINITY]], 'data[0][0]'],
  ['undefined as a member', { a: { b: undefined } }, 'data.a.b'],
  ['undefined itself', undefined, 'data'],
  ['a hole', Array.from({ length: 2 }), 'data[0]'],
  ['a function', { 'on click': () => 1 }, 'data["on click"]'],
  ['a symbol', { s: Symbol('x') }, 'data.s'],
  ['a cycle', cycle, 'data.inner.back'],
  ['a Map', { m: new Map([[1, 2]]) }, 'data.m'],
  ['a Set', new Set([1]), 'data'],
  ['bytes', { b: new Uint8Array(2) }, 'data.b'],
  ['an invalid date', { at: new Date('no') }, 'data.at'],
]

for (const [name, value, path] of refused) {
  test(`${name} is refused and its path named`, () => {
    assert.throws(
      () => jsonText(value, 'data'),
      (error) =>
        error instanceof LockstepError &&
        error.code === 'unserializable' &&
        error.details['path'] === path &&
        error.message.startsWith(path),
    )
  })
}

test('nesting past the limit is refused, not a stack overflow', () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth += 1) deep = [deep]
  assert.throws(() => jsonText(deep, 'data'), { code: 'unserializable' })
})

test('what JSON carries whole is written as JSON.stringify writes it', () => {
  const shared = { x: 1 }
  const value = {
    a: [null, true, 'ü\u0000\ud800', -1.5],
    at: new Date(0),
    left: shared,
    right: shared,
    id: { toJSON: () => 7 },
  }
  assert.equal(jsonText(value, 'data'), JSON.stringify(value))
})
