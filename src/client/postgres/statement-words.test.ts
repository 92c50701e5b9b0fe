import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementWords } from './statement-words.ts'

const cases: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ['COMMIT', [['commit']]],
  ['  rollback to savepoint a', [['rollback', 'to', 'savepoint']]],
  ['select 1; commit', [['select'], ['commit']]],
  ['/* begin; /* nested */ commit; */ select 1', [['select']]],
  ['-- commit\nselect 1', [['select']]],
  ["select 'a;commit;''b' as x", [['select', 'as', 'x']]],
  ["select E'it\\'s; commit' as x", [['select', 'as', 'x']]],
  ['select "a;commit" from t', [['select', 'from', 't']]],
  ['do $$ begin; commit; $$', [['do']]],
  ['do $x$ $$ ; commit $x$; end', [['do'], ['end']]],
  ['/**/commit', [['commit']]],
  ['select 1 /* ;commit', [['select']]],
  ['', []],
]

for (const [text, words] of cases) {
  test(`the statements of ${JSON.stringify(text)} are told apart`, () => {
    assert.deepEqual(statementWords(text), words)
  })
}
