import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sqlPage } from '../reference/sql-functions.ts'
import { places, planted } from '../source/planted.ts'
import { checkFresh } from './fresh.ts'

test('a missing, an outdated and an orphaned page are found, with the first line that differs', () => {
  const pages = [
    { path: 'docs/reference/a.md', text: 'one\ntwo\n' },
    { path: 'docs/reference/b.md', text: 'one\n' },
    { path: 'docs/reference/c.md', text: 'one\n' },
  ]
  const faults = checkFresh(
    planted({ 'docs/reference/a.md': 'one\n2\n', 'docs/reference/b.md': 'one\n', 'docs/reference/z.md': '' }),
    pages,
  )
  assert.deepEqual(places(faults), ['docs/reference/a.md:2', 'docs/reference/c.md:1', 'docs/reference/z.md:1'])
})

test('a public function is shown with its whole signature, a private one is not', () => {
  const text =
    '-- purpose: pushes one\n-- raises: nothing\ncreate or replace function lockstep.push(\n  p_queue text, p_n numeric(3, 1))\nreturns text\nlanguage plpgsql as $$ begin end $$;\n'
  const shown = sqlPage(planted({ 'sql/functions/queue/push.sql': text, 'sql/functions/queue/_append.sql': text })).text
  assert.match(
    shown,
    /## queue\n\n### push\n\npushes one\n\n```sql\nlockstep.push\(\n {2}p_queue text, p_n numeric\(3, 1\)\)\nreturns text\n```\n\n- raises: nothing/,
  )
  assert.doesNotMatch(shown, /_append/)
})
