// The compiled suite once more on a newer Node, as some of the libraries ask for one. What runs there is what runs here.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/db/sql-files.ts'
import { fetchNode } from '../../tools/tests/fetch-node.ts'

const folder = join(packageRoot(), '.build', 'test', 'adapters')
const suites = readdirSync(folder).filter((name) => name.endsWith('.test.js') && !name.startsWith('on-node'))

test('every adapter passes its suite on Node 24', { timeout: 280_000 }, async () => {
  assert.ok(suites.length >= 7)
  const node = await fetchNode(packageRoot())
  if (node === null) return
  const { stdout: version } = await promisify(execFile)(node, ['--version'])
  assert.match(version, /^v24\./)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(
    node,
    [
      '--enable-source-maps',
      '--test',
      '--test-reporter=spec',
      '--test-concurrency=1',
      ...suites.map((name) => join(folder, name)),
    ],
    { env, maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: unknown) => {
    const told = typeof error === 'object' && error !== null ? Reflect.get(error, 'stdout') : ''
    throw new Error(`the suite failed on ${version.trim()}:\n${String(told).slice(-20_000)}`, { cause: error })
  })
  assert.match(stdout, /fail 0\n/)
  assert.ok(Number(/pass (\d+)\n/.exec(stdout)?.[1] ?? 0) > 100, stdout.slice(-2_000))
})
