// The list itself: a name that is no check is an error, and a fault reads as place, fault and way out.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChecks } from './check.ts'
import { describeFault } from './source/fault.ts'
import { planted } from './source/planted.ts'

test('an unknown check is refused by name', () => {
  assert.throws(() => runChecks([], ['no-such']), /no check is called 'no-such'/)
})

test('a fault prints where, what and what to do instead', () => {
  const [fault] = runChecks(planted({ 'src/db/utils.ts': '// x\n' }), ['names'])
  assert.ok(fault)
  assert.equal(
    describeFault(fault),
    "src/db/utils.ts:1  'utils' names a drawer, not a thing\n    -> name the file after the one thing it exports",
  )
})
