// The rules that read files as text: sizes, names, openings, machine paths, marks on tests, any.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joined, places, planted } from '../source/planted.ts'
import { checkAny } from './any.ts'
import { checkNames } from './names.ts'
import { checkOpenings } from './openings.ts'
import { checkPortable } from './portable.ts'
import { checkSizes } from './sizes.ts'
import { checkTests } from './tests.ts'

test('a file one line over its bound is refused, at the bound it is not', () => {
  const faults = checkSizes(
    planted({
      'src/a.ts': '//\n'.repeat(401),
      'src/b.ts': '//\n'.repeat(400),
      'sql/functions/x/y.sql': '--\n'.repeat(201),
      'docs/long.md': '\n'.repeat(999),
    }),
  )
  assert.deepEqual(places(faults), ['src/a.ts:401', 'sql/functions/x/y.sql:201'])
})

test('drawers and other spellings are refused as names', () => {
  const faults = checkNames(
    planted({
      'src/db/utils.ts': '',
      'src/db/pool-helper.ts': '',
      'src/db/PoolSize.ts': '',
      'src/common/pool.ts': '',
      'src/db/commit-law.test.ts': '',
      'sql/functions/queue/push-joined.sql': '',
    }),
  )
  assert.deepEqual(places(faults), [
    'src/db/utils.ts:1',
    'src/db/pool-helper.ts:1',
    'src/db/PoolSize.ts:1',
    'src/common/pool.ts:1',
    'sql/functions/queue/push-joined.sql:1',
  ])
})

test('a code file opens with a comment', () => {
  assert.deepEqual(
    places(
      checkOpenings(
        planted({
          'src/a.ts': 'export const a = 1\n',
          'src/b.ts': '// b\n',
          'tools/c.mjs': '#!/usr/bin/env node\nlet c\n',
        }),
      ),
    ),
    ['src/a.ts:1', 'tools/c.mjs:2'],
  )
})

test('machine paths, registries and carriage returns are found', () => {
  const faults = checkPortable(
    planted({
      'docs/a.md': `see ${joined('/wo', 'rk/main')}\n`,
      'package-lock.json': `"https://registry${joined('.npm', 'js.org/pg')}"\n`,
      'src/b.ts': 'a\r\n',
      'src/c.ts': "'/workspace'\n",
    }),
  )
  assert.deepEqual(places(faults), ['docs/a.md:1', 'package-lock.json:1', 'src/b.ts:1'])
})

test('a marked test and a test without an assertion are found, words in texts are not', () => {
  const faults = checkTests(
    planted({
      'src/a.test.ts': "test.skip('x', () => { assert.ok(1) })\ntest('y', { todo: true }, () => {})\n",
      'src/b.test.ts': "test('nothing', () => {})\n",
      'src/c.test.ts': "test('test.only is refused', { skip: false }, () => { assert.ok(1) })\n",
    }),
  )
  assert.deepEqual(places(faults), ['src/a.test.ts:1', 'src/a.test.ts:2', 'src/b.test.ts:1'])
})

test('any is refused but as Untyped, and so is a comment that switches checks off without a reason', () => {
  const faults = checkAny(
    planted({
      'src/a.ts': 'let a: any\nexport type Untyped = any\nlet b = c as any\nconst d = { any: 1 } // any\n',
      'src/b.ts': `// @ts-${joined('ig', 'nore')}\n`,
      'src/d.ts': '// d\n\n// The compiler cannot follow a loop over keys.\n// oxlint-disable-next-line rule\nf()\n',
      'src/e.ts': '// e\n\nf()\n// oxlint-disable-next-line rule\n',
      'src/c.test.ts': `// @ts-${joined('expect', '-error')}: must not compile\n`,
    }),
  )
  assert.deepEqual(places(faults), ['src/a.ts:1', 'src/a.ts:3', 'src/b.ts:1', 'src/e.ts:4'])
})
