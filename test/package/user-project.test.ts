// The package's declarations in a user's project: strict, `skipLibCheck` off, older `lib`s, without and with Node's types. A type
// that only our own settings know would fail every such user.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { packageRoot } from '../../src/db/sql-files.ts'

async function compile(options: readonly string[]): Promise<{ readonly status: number; readonly output: string }> {
  const file = join('test', 'package', 'user-project', 'workflow.ts')
  const words = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', 'false', ...options, file]
  return new Promise((resolve) => {
    execFile(
      join(packageRoot(), 'node_modules', '.bin', 'tsc'),
      words,
      { cwd: packageRoot() },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : 1, output: `${stdout}${stderr}` })
      },
    )
  })
}

const users: readonly (readonly [string, readonly string[]])[] = [
  ['Node, with its types', ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022', '--types', 'node']],
  [
    'a browser, bundled',
    [
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--customConditions',
      'browser',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom',
      '--types',
      '',
    ],
  ],
  [
    'exact optional properties',
    [
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
      '--exactOptionalPropertyTypes',
      '--noUncheckedIndexedAccess',
    ],
  ],
]

for (const [user, options] of users) {
  test(`the workflow compiles for ${user}`, async () => {
    const { status, output } = await compile(options)
    assert.equal(status, 0, output)
  })
}

test('the rig sees a wrong type', async () => {
  const { status, output } = await compile([
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es5',
    '--types',
    '',
  ])
  assert.equal(status, 1)
  assert.match(output, /error TS/)
})
