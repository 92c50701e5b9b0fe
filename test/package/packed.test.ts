// The package as npm would publish it, unpacked in a folder of its own: every file it needs is in it (the SQL too), the client
// migrates, pushes and pops, the testing kit makes a database, the command answers, and no test or source of ours came along.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/db/sql-files.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'

const run = promisify(execFile)
const root = packageRoot()

const PROGRAM = `
import { Lockstep, LockstepError, queue } from 'lockstep'
import { createBroker } from 'lockstep/broker'
import { Lockstep as Edge } from 'lockstep/http'
import { count, stream } from 'lockstep/streams'
import { createTestEnvironment } from 'lockstep/testing'
const direct = new Lockstep({ connectionString: process.env.DATABASE_URL })
await direct.migrate()
const broker = createBroker({ connectionString: process.env.DATABASE_URL, port: 0 })
await broker.start()
const edge = new Edge({ url: broker.address })
await edge.queue(queue('packed')).push({ data: 'pushed by HTTP' })
const [message] = await direct.queue('packed').pop()
console.log(message.data, (await direct.ack(message)).success, new LockstepError('closed', '') instanceof Error)
const counting = await edge.stream(stream('packed', 'packed').aggregate({ seen: count() }).to('packed-out')).start()
const [counted] = await direct.queue('packed-out').group('g').subscriptionMode('all').wait(true).pop()
console.log(counted.data.key, counted.data.seen)
await counting.stop()
await edge.close()
await direct.close()
await broker.stop()
const env = await createTestEnvironment()
await env.drain()
await env.close()
console.log(new URL(env.connectionString).pathname.startsWith('/lockstep_test_program_'))
`

test('what npm publishes is whole and works', async (t) => {
  const { connectionString } = await createTestDatabase(t, { migrated: false })
  const folder = temporaryFolder('packed')
  t.after(() => folder.remove())
  const unpacked = join(folder.path, 'node_modules', 'lockstep')
  mkdirSync(unpacked, { recursive: true })
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder.path], { cwd: root })
  const archive = readdirSync(folder.path).find((name) => name.endsWith('.tgz'))
  await run('tar', ['-xzf', join(folder.path, archive ?? ''), '--strip-components=1', '-C', unpacked])

  const files = readdirSync(unpacked, { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    files.filter((name) => /\.test\.|^src\b|^test\b|^tools\b|^bench\b/.test(name)),
    [],
  )
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(folder.path, 'program.js'), PROGRAM)
  const env = { ...process.env, DATABASE_URL: connectionString }
  const program = await run(process.execPath, ['program.js'], { cwd: folder.path, env })
  assert.equal(program.stdout, 'pushed by HTTP true true\nDefault 1\ntrue\n')
  const command = await run(process.execPath, [join(unpacked, 'dist', 'cli', 'main.js'), 'queue', 'list', '--json'], {
    cwd: folder.path,
    env,
  })
  assert.match(command.stdout, /packed/)
})
