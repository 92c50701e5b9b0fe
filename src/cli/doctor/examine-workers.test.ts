// What doctor says of work that nobody does: named, counted, and silent as long as somebody live has it or works on it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeWorkflows } from '../../operations/see-workflows.ts'
import { createTestDatabase } from '../../testing/database.ts'
import { examineWorkers } from './examine-workers.ts'

const SHAPE = '{"output":false,"sinks":1,"nodes":[{"name":"a","action":"x","after":[],"children":[0]}]}'

test('steps and runs that wait for what no live worker has are told with their version', async (t) => {
  const own = await createTestDatabase(t)
  const sql = await own.connect()
  const said = async (): Promise<readonly (string | null)[]> =>
    (await examineWorkers(own.database)).map((one) => one.seen)
  const fine = ['nothing waits for an action or a version that no live worker has']
  assert.deepEqual(await said(), fine)
  const known = [
    ['charge', '', 'action', '{}'],
    ['graph_%', 'v1', 'graph', SHAPE],
    ['code', 'old', 'code', '{}'],
    ['code', 'new', 'code', '{}'],
    ['plain', '', 'code', '{}'],
  ]
  for (const one of known) await sql.query('select lockstep.register_workflow($1, $2, $3, $4)', one)
  await sql.query(`select lockstep.enqueue('charge', '1') from generate_series(1, 3)`)
  await sql.query(`select lockstep.enqueue('py', '1')`)
  for (const name of ['graph_%', 'code', 'plain']) await sql.query(`select lockstep.submit($1, '1')`, [name])
  await sql.query(`update lockstep.node set want = 'flow:code@old', version = 'old' where workflow = 'code'`)
  assert.deepEqual(await said(), fine, 'it has only just become due')

  await sql.query(
    `update lockstep.node set available_at = lockstep.clock() - interval '100 seconds' where available_at is not null`,
  )
  assert.deepEqual(
    (await said()).map((seen) => seen?.replace(/1\d\d s$/, 'N s')),
    ["1 steps wait for action 'py', which no live worker has, the oldest for N s"],
  )
  const later = "update lockstep.workflow_version set last_seen_at = lockstep.clock() - interval '1 hour'"
  await sql.query(`${later} where (name, version) <> ('code', 'new')`)
  await sql.query(`update lockstep.node set filed = true where workflow = 'charge'`)
  assert.deepEqual(
    (await said()).map((seen) => seen?.replace(/1\d\d s$/, 'N s')),
    [
      "3 steps wait for action 'charge', which no live worker has, the oldest for N s",
      "1 runs wait for version old of workflow 'code', which no live worker has (they have new), the oldest for N s",
      "1 runs wait for workflow 'plain', which no live worker has, the oldest for N s",
      "1 runs wait for version v1 of workflow 'graph_%', which no live worker has (none has another), the oldest for N s",
      "1 steps wait for action 'py', which no live worker has, the oldest for N s",
    ],
  )
  // A worker in another language registers nothing; whoever holds one of them has it.
  await sql.query(`select count(*) from lockstep.claim_joined('{py}', 'lease', 60000, 1, '-infinity')`)
  await seeWorkflows(
    own.database,
    known.map(([name = '', version = '']) => ({ name, version })),
  )
  assert.deepEqual(await said(), fine)
})
