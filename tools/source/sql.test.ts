// The SQL cutter keeps positions, blanks what is quoted, and finds statements inside a body.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cutSql, statementsOf } from './sql.ts'

test('comments and quoted texts are blanked and lines stay', () => {
  const source = "-- purpose: x\nselect 'it''s now()' /* now()\n */ as A\n"
  const { code, header } = cutSql(source)
  assert.equal(code.length, source.length)
  assert.equal(code.includes('now'), false)
  assert.equal(code.includes('as a'), true)
  assert.deepEqual(header, ['purpose: x'])
})

test('a body is cut into its statements, a case expression is not cut', () => {
  const found = statementsOf(
    'as $$ begin a := 1; if x then update t set b = case when c then 1 else 2 end; end if; end $$;',
  )
  assert.deepEqual(
    found.map((statement) => statement.text),
    ['as', 'a := 1', 'if x', 'update t set b = case when c then 1 else 2 end', 'end if', 'end'],
  )
})
