import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { test } from 'node:test'
import fc from 'fast-check'
import { CUT, inArray, inObject, sliceJson } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { LockstepError } from './errors.ts'
import { sliced as slicedBody } from './request-body.ts'
import type { RequestBody } from './request-body.ts'

const ITEMS = inObject({ items: inArray(inObject({ payload: CUT })) })
const texts = (body: string): string[] => sliceJson(body, ITEMS).pieces.map((piece) => piece.text)
const isBad = (error: unknown): boolean => error instanceof LockstepError && error.code === 'bad_request'

test('a payload comes out as the bytes that were sent', () => {
  const odd = ['9007199254740993', '1e400', '-0', '1.10', '{"b":1,"a":[ 2 ,\t3 ]}', '"\\u0000\\ud800"', 'null', '"é😀"']
  const body = `{"items":[${odd.map((payload) => `{"queue":"q", "payload" : ${payload} }`).join(',')}]}`
  assert.deepEqual(texts(body), odd)
})

test('the envelope is parsed without the payloads', () => {
  const { envelope } = sliceJson('{"items":[{"queue":"q","payload":{"queue":"x"},"partition":"p"}]}', ITEMS)
  assert.deepEqual(envelope, { items: [{ queue: 'q', payload: 0, partition: 'p' }] })
})

test('only the named places are cut', () => {
  const { envelope, pieces } = sliceJson('{"payload":1,"items":[[{"payload":2}],{"x":{"payload":3}}]}', ITEMS)
  assert.deepEqual(envelope, { payload: 1, items: [[{ payload: 2 }], { x: { payload: 3 } }] })
  assert.equal(pieces.length, 0)
})

test('of a repeated key the last one counts, as everywhere in JSON', () => {
  const { envelope, pieces } = sliceJson('{"items":[{"payload":"first","payload":"second"}]}', ITEMS)
  assert.deepEqual(envelope, { items: [{ payload: 1 }] })
  assert.equal(pieces[1]?.text, '"second"')
})

test('a key written with escapes is the same key', () => {
  assert.deepEqual(texts('{"items":[{"pay\\u006coad":7}]}'), ['7'])
})

test('prototype keys are data', () => {
  const { envelope } = sliceJson('{"__proto__":{"role":"admin"},"constructor":{"prototype":{"x":1}}}', ITEMS)
  assert.equal(Object.hasOwn(Object.prototype, 'role'), false)
  assert.deepEqual(Object.keys(Object(envelope)), ['__proto__', 'constructor'])
})

test('a payload deeper than the limit is its own fault, the neighbours are not touched', () => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const body = `{"items":[{"payload":${deep(LIMITS.jsonDepth)}},{"payload":${deep(LIMITS.jsonDepth + 1)}},{"payload":"ok"}]}`
  const { pieces } = sliceJson(body, ITEMS)
  assert.deepEqual(
    pieces.map((piece) => piece.fault),
    [null, 'at most 512 levels deep', null],
  )
  assert.equal(pieces[2]?.text, '"ok"')
})

test('a body of very many values is refused before it is parsed, however many a payload has', () => {
  const many = (values: number): string => `[${'{},'.repeat(values - 1)}{}]`
  const body = (junk: number): RequestBody => ({
    text: `{"items":[{"payload":${many(LIMITS.bodyValues)}}],"junk":${many(junk)}}`,
    broken: null,
  })
  // The object, the items, the item, the junk itself; a payload is no value of the body.
  const own = 4
  assert.equal(slicedBody(body(LIMITS.bodyValues - own), ITEMS).pieces.length, 1)
  assert.throws(
    () => slicedBody(body(LIMITS.bodyValues - own + 1), ITEMS),
    /more than 500000 values beside the payloads/,
  )
})

test('a hundred thousand open brackets are refused without a stack overflow', () => {
  assert.throws(() => sliceJson(`{"items":[{"payload":${'['.repeat(100_000)}`, ITEMS), isBad)
  assert.throws(() => sliceJson('['.repeat(100_000), ITEMS), isBad)
})

test('broken bytes in one payload are its own fault; in the envelope they fail the document', () => {
  const decode = (raw: string): string | null => {
    const bytes = Buffer.from(raw, 'latin1')
    return isUtf8(bytes) ? bytes.toString('utf8') : null
  }
  const raw = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')
  const body = raw('{"items":[{"queue":"é","payload":"') + '\xff' + raw('"},{"queue":"ü","payload":"ß"}]}')
  const { envelope, pieces } = sliceJson(body, ITEMS, decode)
  assert.deepEqual(envelope, {
    items: [
      { queue: 'é', payload: 0 },
      { queue: 'ü', payload: 1 },
    ],
  })
  assert.deepEqual(pieces, [
    { text: '', fault: 'valid UTF-8' },
    { text: '"ß"', fault: null },
  ])
  assert.throws(() => sliceJson('{"items":[{"queue":"\xff","payload":1}]}', ITEMS, decode), isBad)
})

test('every JSON value survives, and what JSON.parse refuses is refused', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, indent) => {
      const payload = JSON.stringify(value, null, indent)
      assert.deepEqual(texts(`{"items":[{"payload":${payload}}]}`), [payload])
    }),
  )
  const accepts = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const unit = fc.constantFrom(...'{}[]",:\\u00ff0123456789.eE+-truefalsn \t\n\u0001é')
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
      let sliced = true
      try {
        sliceJson(`{"items":[{"payload":${text}}]}`, ITEMS)
      } catch {
        sliced = false
      }
      assert.equal(sliced, accepts(`{"items":[{"payload":${text}}]}`))
    }),
    { numRuns: 5000 },
  )
})
