// The rules that hold tables and their users together: dependencies, errors, limits, migrations.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { places, planted } from '../source/planted.ts'
import { checkDependencies } from './dependencies.ts'
import { checkEntries } from './entries.ts'
import { checkErrors } from './errors.ts'
import { checkLimits } from './limits.ts'
import { FROZEN, checkMigrations } from './migrations.ts'

test('an undeclared import, a dev dependency in src and a dependency that nothing imports are found', () => {
  const manifest = JSON.stringify({ dependencies: { pg: '1', unused: '1' }, devDependencies: { zod: '1' } }, null, 1)
  const faults = checkDependencies(
    planted({
      'package.json': manifest,
      'src/a.ts': "import pg from 'pg'\nimport { z } from 'zod'\nimport fs from 'node:fs'\n",
      'test/b.ts': "import { z } from 'zod/v4'\nimport x from '@scope/absent/deep'\n",
    }),
  )
  assert.deepEqual(places(faults), ['src/a.ts:2', 'test/b.ts:2', 'package.json:4'])
})

test('the error table and what is raised agree in both directions', () => {
  const table = { bad_request: { sqlstate: 'LS400' }, ghost: { sqlstate: 'LS999' }, lonely: { sqlstate: null } }
  const faults = checkErrors(
    planted({
      'sql/functions/a.sql':
        "raise exception using errcode = 'LS400', detail = 'bad_request';\nraise exception using errcode = 'LS777', detail = 'nobody';\n",
      'src/protocol/errors.ts': '  bad_request: {\n  ghost: {\n  lonely: {\n',
    }),
    table,
  )
  assert.deepEqual(places(faults), [
    'sql/functions/a.sql:2',
    'sql/functions/a.sql:2',
    'src/protocol/errors.ts:2',
    'src/protocol/errors.ts:3',
  ])
})

test('a limit that nothing enforces is found, and a number in sql/ that differs from it', () => {
  const faults = checkLimits(
    planted({
      'src/protocol/limits.ts':
        'export const LIMITS = {\n  used: 1_000,\n  forgotten: 2,\n  inSql: 1_000,\n  wrong: 5,\n}\n',
      'src/broker/a.ts': 'if (n > LIMITS.used) refuse()\n',
      'sql/functions/a.sql': 'limit 1000 -- LIMITS.inSql\nlimit 6 -- LIMITS.wrong\n',
    }),
  )
  assert.deepEqual(places(faults), ['src/protocol/limits.ts:3', 'sql/functions/a.sql:2'])
})

test('a gap in the numbering, a changed and a lost released migration are found', () => {
  const sum = createHash('sha256').update('one').digest('hex')
  const faults = checkMigrations(
    planted({
      'sql/migrations/0001_one.sql': 'one, changed',
      'sql/migrations/0003_three.sql': '',
      [FROZEN]: `# released\n${sum}  0001_one.sql\n${sum}  0002_two.sql\n`,
    }),
  )
  assert.deepEqual(places(faults), ['sql/migrations/0003_three.sql:1', 'sql/migrations/0001_one.sql:1', `${FROZEN}:3`])
})

test('an entry of the package that nothing builds is found', () => {
  const manifest = '{\n"exports": {\n".": "./dist/index.js",\n"./gone": "./dist/gone/index.d.ts"\n}}\n'
  const faults = checkEntries(planted({ 'package.json': manifest, 'src/index.ts': '// x\n' }))
  assert.deepEqual(places(faults), ['package.json:4'])
})
