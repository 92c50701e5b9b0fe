import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutStatement, questionMarks } from './placeholders.ts'

test('a placeholder is cut out where it stands, and its order and repeats are kept', () => {
  assert.deepEqual(cutStatement('select $2::text, $1, $2'), {
    texts: ['select ', '::text, ', ', ', ''],
    order: [1, 0, 1],
  })
  assert.deepEqual(cutStatement('select 1'), { texts: ['select 1'], order: [] })
  assert.deepEqual(questionMarks('f($2, $1, $10)', 'abcdefghij'.split('')), {
    text: 'f(?, ?, ?)',
    values: ['b', 'a', 'j'],
  })
})

test('what stands in quotes, comments and names is no placeholder', () => {
  const kept = [
    `'$1 it''s $2'`,
    String.raw`E'\'$1'`,
    '"$1 ""$2"',
    '$$ $1 $$',
    "$tag$ $1 $$ '$2' $tag$",
    '-- $1\n',
    '/* $1 */',
    'col$1',
    '\u00e4$1',
  ]
  for (const text of kept) {
    assert.deepEqual(cutStatement(`${text} $1 x`), { texts: [`${text} `, ' x'], order: [0] }, text)
  }
})

test('a question mark of the statement stays one', () => {
  assert.deepEqual(questionMarks(`select '?' ?? $1 -- ?`, ['a']), {
    text: String.raw`select '\?' \?\? ? -- \?`,
    values: ['a'],
  })
})

test('a parameter that is not there is an error, not an empty text', () => {
  assert.throws(() => questionMarks('f($2)', ['a']), /no parameter \$2/)
})
