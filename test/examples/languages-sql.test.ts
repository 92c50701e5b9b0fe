// The examples in other languages do what they say: psql and Python submit inside their own transactions, and a graph that psql
// submits runs in a Python worker over HTTP, with only its planner in TypeScript.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Lockstep } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { fulfilOrder } from '../../examples/languages-sql/planner.ts'
import { packageRoot } from '../../src/db/sql-files.ts'
import { reportAbsence } from '../../src/testing/absence.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { fetchPsycopg } from '../../tools/tests/fetch-psycopg.ts'

const run = promisify(execFile)
const folder = join(packageRoot(), 'examples', 'languages-sql')

async function lockstepOn(t: TestContext): Promise<{ readonly lockstep: Lockstep; readonly url: string }> {
  // Hooks run in this order: the client ends before its database does.
  t.after(() => lockstep.close({ timeoutMs: 1_000 }))
  const { connectionString } = await createTestDatabase(t)
  const lockstep = new Lockstep({ connectionString })
  const planner = lockstep.worker({ workflows: [fulfilOrder], poll: '50ms' })
  await planner.start()
  return { lockstep, url: connectionString }
}

async function has(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  )
}

async function psql(url: string): Promise<{ readonly said: string; readonly runId: string }> {
  const words = ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', url, '-f', join(folder, 'submit.sql')]
  const { stdout } = await run('psql', words)
  const runId = /^id (\S+)$/m.exec(stdout)?.[1] ?? ''
  return { said: stdout.replace(/^id .*\n/m, ''), runId }
}

const SAID = 'submitted t\nagain f f\nafter the rollback 0\njob pending\n'

test('psql submits, finds a known key, and leaves nothing after a rollback', async (t) => {
  if (!(await has('psql'))) return reportAbsence(t, 'psql')
  const { lockstep, url } = await lockstepOn(t)
  const { said, runId } = await psql(url)
  assert.match(said, new RegExp(`^${SAID}run fulfil_order (pending|running)\\n$`))
  const { workflow, key } = await lockstep.run(runId).status()
  assert.deepEqual([workflow, key], ['fulfil_order', 'order-1'])
  return undefined
})

test('Python submits inside its own transaction', async (t) => {
  const found = await fetchPsycopg(packageRoot())
  if ('absent' in found) return reportAbsence(t, found.absent)
  const { lockstep, url } = await lockstepOn(t)
  const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: url }
  const { stdout } = await run(found.python, [join(folder, 'submit.py')], { env })
  const words = stdout.trim().split('\n')
  assert.match(words[0] ?? '', /^run \S+ (pending|running)$/)
  assert.deepEqual(words[2], 'rolled back: the order cannot be taken')
  assert.match(words[3] ?? '', /^job \S+ pending$/)
  assert.equal(words[4], 'orders 1')
  const gone = words[1]?.split(' ')[1] ?? ''
  await assert.rejects(lockstep.run(gone).status(), { name: 'RunNotFoundError' })
  assert.equal((await lockstep.run(words[0]?.split(' ')[1] ?? '').status()).key, 'order-11')
  return undefined
})

test('a graph that psql submitted runs in a Python worker over HTTP, planned in TypeScript', async (t) => {
  for (const program of ['psql', 'python3']) if (!(await has(program))) return reportAbsence(t, program)
  const { lockstep, url } = await lockstepOn(t)
  const broker = createBroker({ connectionString: url, port: 0 })
  await broker.start()
  t.after(() => broker.stop())
  const worker = spawn('python3', [join(folder, 'worker.py')], {
    env: { PATH: process.env['PATH'] ?? '', LOCKSTEP_URL: broker.address, LEASE_MS: '1500', SHIPPING_SECONDS: '3' },
  })
  t.after(() => worker.kill('SIGKILL'))
  const closed = once(worker, 'close')
  let said = ''
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const { runId } = await psql(url)
  const result = await lockstep
    .run(runId)
    .result({ timeout: '30s' })
    .catch((error: unknown) => `${String(error)}\n${said}`)
  assert.deepEqual(result, {
    reserve: { reservation: 'R-1' },
    charge: { receipt: 'R-1/charge' },
    ship: 'shipped with R-1/charge',
  })
  worker.kill('SIGTERM')
  assert.deepEqual(await closed, [0, null], said)
  assert.deepEqual(said.trim().split('\n'), [
    'ready',
    "completed reserve 1 {'success': True}",
    "failed charge 1 {'success': True, 'retry': True}",
    "completed charge 2 {'success': True}",
    'kept ship',
    "completed ship 1 {'success': True}",
  ])
  return undefined
})
