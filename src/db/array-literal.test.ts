// Any list of texts comes back from PostgreSQL as it was sent.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { createTestDatabase } from '../testing/database.ts'
import { arrayLiteral } from './array-literal.ts'

const own = await createTestDatabase(null, { migrated: false })
after(() => own.drop())

async function returned(items: readonly (string | null)[]): Promise<readonly (string | null)[]> {
  const rows = await own.database.reader.rows('select v from unnest($1::text[]) with ordinality u(v, n) order by n', [
    items,
  ])
  return rows.map(([value]) => value ?? null)
}

test('nulls, the word NULL, separators, braces, quotes, backslashes, line ends and empty texts stay what they are', async () => {
  const items = [
    null,
    'NULL',
    'null',
    '',
    ' ',
    ',',
    '{}',
    '{"a"}',
    '"',
    '\\',
    '\\"',
    '\\\\',
    '\n\t\r',
    "'",
    '😀',
    '\u2028',
    '"\\"',
  ]
  assert.deepEqual(await returned(items), items)
  assert.deepEqual(await returned([]), [])
})

test('random texts come back byte for byte', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 50 }).filter((value) => !value.includes('\0'))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text), { maxLength: 30 }), async (items) => {
      assert.deepEqual(await returned(items), items)
    }),
    { numRuns: 200 },
  )
})

test('the literal quotes every element', () => {
  assert.equal(arrayLiteral(['a', null, 'b"\\']), '{"a",NULL,"b\\"\\\\"}')
})
