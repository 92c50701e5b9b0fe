import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boolean, booleanText, integer, integerText, list, oneOf, optional, readFields, root, text } from './check.ts'
import { durationMs, durationSeconds } from './durations.ts'
import { LockstepError } from './errors.ts'
import { mintId } from './mint-id.ts'
import { kvNamespace, queueName } from './names.ts'
import { utf8Length } from './utf8.ts'

const message = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof LockstepError) return error.message
    throw error
  }
  return 'accepted'
}

test('a fault names the field by its path and says what would be right', () => {
  const fields = { names: list(3, text({ min: 1, max: 5 })), size: integer(1, 10) }
  assert.equal(
    message(() => readFields(fields, { names: ['a', ''], size: 1 }, root('bad body: '))),
    'bad body: names[1] must be text of 1 to 5 bytes',
  )
  for (const size of [0, 11, 1.5, '5', null, undefined, Number.NaN, Infinity, 1e300, -1]) {
    assert.equal(
      message(() => readFields(fields, { names: [], size }, root())),
      'size must be an integer from 1 to 10',
    )
  }
})

test('prototype keys neither give a value nor reach a prototype', () => {
  const fields = { role: optional(text({ max: 9 }), 'none'), constructor: optional(text({ max: 9 }), 'own') }
  const source: unknown = JSON.parse('{"__proto__":{"role":"admin"}}')
  assert.deepEqual(readFields(fields, source, root()), { role: 'none', constructor: 'own' })
})

test('an object is asked for where one belongs', () => {
  for (const source of [null, [], 'x', 1]) {
    assert.equal(
      message(() => readFields({ a: boolean }, source, root('bad body: '))),
      'bad body: it must be an object',
    )
  }
})

test('text parameters are read strictly', () => {
  const fields = { n: integerText(0, 99), b: booleanText, c: oneOf('x', 'y') }
  assert.deepEqual(readFields(fields, { n: '7', b: 'true', c: 'y' }, root()), { n: 7, b: true, c: 'y' })
  for (const n of ['', '7.0', '0x7', ' 7', '1e1', '100', '-1', '99999999999999999999']) {
    assert.match(
      message(() => readFields(fields, { n, b: 'true', c: 'y' }, root())),
      /^n must be an integer from 0 to 99$/,
    )
  }
  assert.match(
    message(() => readFields(fields, { n: '1', b: 'yes', c: 'y' }, root())),
    /^b must be true or false$/,
  )
})

test('a name is any Unicode text without NUL, counted in bytes', () => {
  const read = (name: unknown): string => message(() => readFields({ queue: queueName }, { queue: name }, root()))
  for (const good of [
    "a'; drop table x;--",
    'a"b',
    '%2e%2e',
    'A',
    'é',
    'e\u0301',
    '😀',
    '\u200f',
    ' ',
    '',
    'x'.repeat(512),
  ]) {
    assert.equal(read(good), 'accepted', good)
  }
  for (const bad of ['a\0b', '\ud800', '.', '..', 'x'.repeat(513), 'é'.repeat(257), 7, null]) {
    assert.match(read(bad), /^queue must be /, String(bad))
  }
  assert.match(
    message(() => readFields({ ns: kvNamespace }, { ns: 'Orders' }, root())),
    /^ns must be a namespace/,
  )
})

test('the length in bytes is that of UTF-8', () => {
  for (const sample of ['', 'abc', 'é', '€', '😀', 'a😀é€']) {
    assert.equal(utf8Length(sample), Buffer.byteLength(sample))
  }
  for (const half of ['\ud800', 'x\udc00', '\ud800a']) assert.equal(utf8Length(half), -1)
})

test('durations have one unit and no fraction', () => {
  assert.equal(durationMs('30d', 'ttl'), 2_592_000_000)
  assert.equal(durationMs('250ms', 'ttl'), 250)
  assert.equal(durationSeconds('2h', 'ttl'), 7200)
  for (const bad of ['1w', '0s', '1.5h', '30', 'd', '-1s', ' 1s', '9999999999999999d']) {
    assert.match(
      message(() => durationMs(bad, 'ttl')),
      /^ttl must be a whole number above zero/,
    )
  }
  assert.match(
    message(() => durationSeconds('1500ms', 'ttl')),
    /whole number of seconds/,
  )
})

test('minted ids are UUIDv7 and rise strictly', () => {
  let last = ''
  for (let i = 0; i < 20_000; i++) {
    const id = mintId()
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.ok(id > last)
    last = id
  }
})
