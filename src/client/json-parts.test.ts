import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { elementTexts, memberTexts } from './json-parts.ts'

test('members and elements come back as the very text that stood there', () => {
  const text =
    ' { "a" : 9007199254740993 , "b\\"\\\\" : [ 1.0, "x]}\\\\" , {"c":"\\u0000"} ] , "d":1e400,"e": "\\\\\\"", "f":{} } '
  const members = memberTexts(text)
  assert.deepEqual(
    [...members],
    [
      ['a', '9007199254740993'],
      ['b"\\', '[ 1.0, "x]}\\\\" , {"c":"\\u0000"} ]'],
      ['d', '1e400'],
      ['e', '"\\\\\\""'],
      ['f', '{}'],
    ],
  )
  assert.deepEqual(elementTexts(members.get('b"\\') ?? ''), ['1.0', '"x]}\\\\"', '{"c":"\\u0000"}'])
  assert.deepEqual(elementTexts(' [ ] '), [])
  assert.equal(memberTexts('{}').size, 0)
})

test('any JSON object is cut into parts that parse to its members', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const source: Record<string, unknown> = JSON.parse(JSON.stringify(value))
      const parts = memberTexts(JSON.stringify(source, null, indent))
      assert.deepEqual(Object.fromEntries([...parts].map(([name, part]) => [name, JSON.parse(part)])), { ...source })
      const list = Object.values(source)
      assert.deepEqual(
        elementTexts(JSON.stringify(list, null, indent)).map((part) => JSON.parse(part)),
        list,
      )
    }),
  )
})

for (const text of ['', '{', '{"a"', '{"a":}', '{"a":1', '{"a" 1}', '{a:1}', '["x', '[1 2]', 'x', '{"a":tru}']) {
  test(`broken text is refused: ${JSON.stringify(text)}`, () => {
    assert.throws(() => (text.startsWith('[') ? elementTexts(text) : memberTexts(text)), { code: 'internal' })
  })
}
