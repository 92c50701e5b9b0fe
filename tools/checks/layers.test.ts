// Each arrow that must not exist is planted once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { places, planted } from '../source/planted.ts'
import { checkLayers } from './layers.ts'

test('an import against the arrows is named with its line', () => {
  const faults = checkLayers(
    planted({
      'src/db/pool.ts': "// x\nimport { push } from '../operations/push.ts'\n",
      'src/operations/push.ts': "// x\nimport { pool } from '../db/pool.ts'\n",
    }),
  )
  assert.match(faults.map((fault) => fault.what).join('\n'), /db may not import operations/)
  assert.match(
    faults.map((fault) => fault.what).join('\n'),
    /cycle of imports: src\/db\/pool.ts -> src\/operations\/push.ts/,
  )
})

test('the client bundles for a browser: no node built-in, no transport for PostgreSQL but by #postgres', () => {
  const faults = checkLayers(
    planted({
      'src/client/queue.ts':
        "import { randomUUID } from 'node:crypto'\nimport { open } from './transport-postgres.ts'\n",
      'src/client/transport-postgres.ts': "import pg from 'pg'\nimport { push } from '../operations/push.ts'\n",
      'src/operations/push.ts': '//\n',
    }),
  )
  assert.deepEqual(places(faults), ['src/client/queue.ts:1', 'src/client/queue.ts:2'])
})

test('an operation that calls another operation is found, a shared reader is not', () => {
  const verb =
    "import { read } from './read-row.ts'\nconst statement = 'select r from lockstep.pop_joined($1::text[])'\n"
  const faults = checkLayers(
    planted({
      'src/operations/pop.ts': verb,
      'src/operations/ack.ts': `import { pop } from './pop.ts'\n${verb}`,
      'src/operations/read-row.ts': '//\n',
    }),
  )
  assert.deepEqual(places(faults), ['src/operations/ack.ts:1'])
})

test('a room that nobody declared is refused', () => {
  assert.deepEqual(places(checkLayers(planted({ 'src/misc/x.ts': '//\n' }))), ['src/misc/x.ts:1'])
})

test('nothing imports the command line', () => {
  assert.deepEqual(
    places(
      checkLayers(
        planted({ 'src/broker/start.ts': "import { main } from '../cli/main.ts'\n", 'src/cli/main.ts': '//\n' }),
      ),
    ),
    ['src/broker/start.ts:1'],
  )
})
