// The tutorials as a reader runs them: by their own script, through a broker and straight to PostgreSQL. Each has to pass both
// ways, and a tutorial whose promise is broken has to fail.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createBroker } from 'lockstep/broker'
import { packageRoot } from '../../src/db/sql-files.ts'
import { createTestDatabase } from '../../src/testing/database.ts'

interface Ended {
  readonly status: number
  readonly output: string
}

async function run(command: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: packageRoot(), env: { ...process.env, ...env }, timeout: 120_000 }
    execFile(command, [...words], options, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ status, output: `${stdout}${stderr}` })
    })
  })
}

test('every tutorial passes through a broker and straight to PostgreSQL', async (t) => {
  const { connectionString } = await createTestDatabase(t)
  const broker = createBroker({ connectionString, port: 0 })
  await broker.start()
  t.after(async () => broker.stop())
  const files = readdirSync(join(packageRoot(), 'examples', 'tutorials')).filter((name) => /^\d\d-.*\.ts$/.test(name))
  assert.equal(files.length, 5)
  const { status, output } = await run('bash', [join('examples', 'tutorials', 'run.sh')], {
    LOCKSTEP_URL: broker.address,
    DATABASE_URL: connectionString,
  })
  assert.equal(status, 0, output)
  assert.equal(output.match(/^PASS: \d+ checks$/gm)?.length, files.length * 2, output)
  assert.doesNotMatch(output, /FAIL/)
})

test('without a place to go the script says what to set', async () => {
  const { status, output } = await run('bash', [join('examples', 'tutorials', 'run.sh')], {
    LOCKSTEP_URL: '',
    DATABASE_URL: '',
  })
  assert.equal(status, 2)
  assert.match(output, /LOCKSTEP_URL.*DATABASE_URL/)
})

test('a tutorial that cannot keep its promise ends with a non-zero status', async () => {
  const file = join('.build', 'examples', 'tutorials', '05-state-with-versions.js')
  const { status, output } = await run(process.execPath, [file], {
    LOCKSTEP_URL: '',
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
  })
  assert.equal(status, 1)
  assert.match(output, /FAIL: /)
})
