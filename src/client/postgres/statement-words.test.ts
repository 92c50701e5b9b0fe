import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statementWords } from './statement-words.ts'

const cases: readonly (readonly [string, readonly (readonly string[])[]])[] = [
  ['COMMIT', [['commit']]],
  ['  rollback to savepoint a', [['rollback', 'to', 'savepoint']]],
  ['select 1; commit', [['select'], ['commit']]],
  ['-- note\rcommit', [['commit']]],
  ['-- note\r\ncommit', [['commit']]],
  ['select 1 -- note\r;commit', [['select'], ['commit']]],
  ["-- it's\rcommit -- it's", [['commit']]],
  ['-- /*\rcommit -- */', [['commit']]],
  ['/* -- */ commit', [['commit']]],
  ['/* a /* b */ c */ commit /* d */', [['commit']]],
  ["/* ' */ commit; /* ' */", [['commit']]],
  ['/*/**/*/commit', [['commit']]],
  ["select '--'; commit", [['select'], ['commit']]],
  ["select '\\'; commit; --'", [['select'], ['commit']]],
  ["select e'\\\\'; commit; --'", [['select'], ['commit']]],
  ["select E'''; commit' as x", [['select', 'as', 'x']]],
  ["select E'\\''; commit; --'", [['select'], ['commit']]],
  ["select nice'x\\'; commit; --'", [['select', 'nice'], ['commit']]],
  ["select E'a'\n'\\''; commit; select ''", [['select'], ['commit'], ['select']]],
  ["select 'a'\n'\\'; commit", [['select'], ['commit']]],
  ['select $1; commit; select $2', [['select'], ['commit'], ['select']]],
  ['select $a$ $b$ $a$; commit', [['select'], ['commit']]],
  ['select $a$ $A$; commit $a$', [['select']]],
  ['select x$a$; commit; select y$a$', [['select', 'x', 'a'], ['commit'], ['select', 'y', 'a']]],
  ['select $é$;commit$é$', [['select']]],
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
