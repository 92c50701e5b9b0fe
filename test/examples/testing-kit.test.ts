// The examples of the testing kit pass, each in a process of its own and without LOCKSTEP_TEST_URL where that shows that the kit
// starts its own PostgreSQL and leaves nothing of it behind. Vitest's and jest's names stand on node:test here.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/db/sql-files.ts'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'
import { testServer } from '../../src/testing/test-server.ts'

const run = promisify(execFile)
const exampleOf = (name: string): string => join(packageRoot(), '.build', 'examples', 'testing', `${name}.js`)

const GLOBALS = `
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
const expect = (actual) => ({
  toBe: (expected) => assert.equal(actual, expected),
  toEqual: (expected) => assert.deepEqual(actual, expected),
})
Object.assign(globalThis, { afterEach, beforeEach, describe, expect, test: (name, body) => test(name, () => body()) })
`

async function passes(file: string, cwd: string, url: string | null): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', ...(url === null ? {} : { LOCKSTEP_TEST_URL: url }) }
  const { stdout } = await run(process.execPath, ['--test-reporter=tap', file], { cwd, env, timeout: 60_000 })
  return stdout
}

test('the example for node:test passes on a server that it starts and ends', async (t) => {
  const folder = temporaryFolder('kit')
  t.after(() => folder.remove())
  assert.match(await passes(exampleOf('node-test'), folder.path, null), /^# pass 1$/m)
  const homes = join(folder.path, '.lockstep', 'testing')
  assert.ok(existsSync(homes))
  assert.deepEqual(readdirSync(homes), [])
})

for (const runner of ['vitest', 'jest']) {
  test(`the example for ${runner} passes with that runner's names`, async (t) => {
    const folder = temporaryFolder('kit')
    t.after(() => folder.remove())
    const file = join(folder.path, 'main.mjs')
    writeFileSync(file, `${GLOBALS}await import(${JSON.stringify(pathToFileURL(exampleOf(runner)).href)})\n`)
    assert.match(await passes(file, folder.path, await testServer()), /^# pass 1$/m)
  })
}
