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

test('a long text is written like a short one, and takes no more memory than a few times itself', () => {
  const piece = '{"k":"\\u00e9 é 😀"},\n'
  const short = arrayLiteral([piece]).slice(2, -2)
  const long = piece.repeat(400_000)
  const before = process.memoryUsage().rss
  const literal = arrayLiteral([long])
  const grown = process.memoryUsage().rss - before
  assert.ok(literal === `{"${short.repeat(400_000)}"}`)
  assert.ok(grown < 15 * long.length, `${grown} bytes for ${long.length}`)
})

test('the literal quotes every element', () => {
  assert.equal(arrayLiteral(['a', null, 'b"\\']), '{"a",NULL,"b\\"\\\\"}')
})
