// The command `worker` as a child process: it runs what a module exports, and at SIGTERM finishes the handler at work, hands
// back nothing half done and ends with 0.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Lockstep } from '../client/lockstep.ts'
import { createTestDatabase } from '../testing/database.ts'
import { run } from '../testing/run-program.ts'
import { waitFor } from '../testing/sessions.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const PROGRAM = fileURLToPath(new URL('main.js', import.meta.url))
const ACTIONS = `
import { setTimeout as sleep } from 'node:timers/promises'
import { action, workflow } from 'lockstep'
import { z } from 'zod'
export const greet = action({ name: 'greet', input: z.string() }, async (ctx, name) => {
  ctx.log.info('greeting', { name })
  return 'hello ' + name
})
const slow = action({ name: 'slow', input: z.number() }, async (ctx, milliseconds) => {
  await sleep(milliseconds)
  const tx = await ctx.completionTx()
  await tx.query('insert into slept values ($1)', [ctx.attempt])
  return 'slept'
})
export const twice = workflow({ name: 'twice', input: z.string() })
  .node('first', greet, ({ input }) => input)
  .node('second', greet, ({ outputs }) => outputs.first, { after: ['first'] })
export default { more: [slow] }
export const unrelated = 42
`

function module(t: TestContext, name: string, text: string): { readonly file: string; readonly cwd: string } {
  const folder = temporaryFolder('worker')
  t.after(() => folder.remove())
  writeFileSync(join(folder.path, name), text)
  return { file: `./${name}`, cwd: folder.path }
}

test('a worker runs what the module exports until SIGTERM, and finishes what is at work', async (t) => {
  const { connectionString, database } = await createTestDatabase(t)
  await database.pool.query('create table slept (attempt int)')
  const { file, cwd } = module(t, 'actions.mjs', ACTIONS)
  const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: connectionString }
  const child = spawn(process.execPath, [PROGRAM, 'worker', '--import', file, '--concurrency', '3', '--json'], {
    cwd,
    env,
  })
  t.after(() => child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const [line] = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), closed])
  assert.deepEqual(JSON.parse(String(line)), {
    event: 'ready',
    pid: child.pid,
    concurrency: 3,
    names: ['greet', 'slow', 'twice'],
  })

  const lockstep = new Lockstep({ connectionString })
  t.after(() => lockstep.close())
  const greeted = await database.rows(`select run_id::text from lockstep.enqueue('greet', '"Ada"')`, [])
  assert.equal(await lockstep.run(greeted[0]?.[0] ?? '').result({ timeout: '20s' }), 'hello Ada')
  const twice = await database.rows(`select run_id::text from lockstep.submit('twice', '"Bob"')`, [])
  assert.equal((await lockstep.run(twice[0]?.[0] ?? '').wait({ timeout: '20s' })).state, 'completed')
  await waitFor('the log line', () => log.includes('"greeting"'))
  const first = log.split('\n').find((one) => one.includes('"greeting"'))
  assert.match(first ?? '', /^\{"time":"[^"]+","level":"info","message":"greeting",.*"name":"Ada"/)

  const slow = await database.rows(`select run_id::text from lockstep.enqueue('slow', '1500')`, [])
  const slept = lockstep.run(slow[0]?.[0] ?? '')
  await waitFor('the handler to begin', async () => (await slept.status()).state === 'running')
  child.kill('SIGTERM')
  assert.deepEqual(await closed, [0, null], log)
  assert.equal((await slept.status()).state, 'completed')
  assert.deepEqual((await database.pool.query('select attempt from slept')).rows, [{ attempt: 1 }])
})

test('what cannot be run is refused with what to do', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const env = { DATABASE_URL: connectionString }
  const bare = await run(['worker'], { env })
  assert.deepEqual([bare.status, /lockstep worker --import/.test(bare.err)], [2, true])
  const empty = module(t, 'empty.mjs', 'export const nothing = { a: 1, b: [2, null] }')
  const nothing = await run(['worker', '--import', empty.file], { env, cwd: empty.cwd })
  assert.deepEqual([nothing.status, /exports no action and no workflow/.test(nothing.err)], [2, true])
  const missing = await run(['worker', '--import', './nowhere.js'], { env, cwd: empty.cwd })
  assert.deepEqual([missing.status, /There is no file/.test(missing.err)], [2, true])
  const broken = module(t, 'broken.mjs', 'export const a = = 1')
  const unread = await run(['worker', '--import', broken.file], { env, cwd: broken.cwd })
  assert.deepEqual([unread.status, /\.\/broken\.mjs cannot be loaded: SyntaxError/.test(unread.err)], [2, true])
  const old = await createTestDatabase(t, { migrated: false })
  const { file, cwd } = module(t, 'actions.mjs', ACTIONS)
  const outdated = await run(['worker', '--import', file], { env: { DATABASE_URL: old.connectionString }, cwd })
  assert.deepEqual([outdated.status, /lockstep migrate/.test(outdated.err)], [1, true])
})

test('a TypeScript module is loaded where Node strips types, and refused with what to do elsewhere', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const { file, cwd } = module(t, 'actions.ts', `const only: number = 1\nexport { only }`)
  const typed = await run(['worker', '--import', file], { env: { DATABASE_URL: connectionString }, cwd })
  assert.equal(typed.status, 2)
  const strips = 'typescript' in process.features && process.features.typescript !== false
  assert.match(typed.err, strips ? /exports no action/ : /does not load TypeScript.*worker --import \.\/actions\.js/s)
})
