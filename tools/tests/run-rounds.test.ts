// Several rounds are one run: one summary over all of them, and a failure in any of them is remembered.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from '../../src/testing/temporary-folder.ts'

const RUNS = pathToFileURL(fileURLToPath(new URL('run-rounds.js', import.meta.url))).href

interface Outcome {
  readonly urls: readonly string[]
  readonly text: string
  readonly verdict: { readonly failed: readonly string[]; readonly kept: readonly string[] }
}

/** In a process of its own: node:test runs nothing from within a test. */
async function rounds(
  files: Readonly<Record<string, string>>,
  plan: readonly (readonly string[])[],
  fileTimeoutMs = 60_000,
): Promise<Outcome> {
  const folder = temporaryFolder('rounds')
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text)
    const code = `
      import { runRounds } from ${JSON.stringify(RUNS)}
      import { spec } from 'node:test/reporters'
      import { Readable } from 'node:stream'
      const urls = []
      const plan = ${JSON.stringify(plan.map((names) => names.map((name) => join(folder.path, name))))}
      const rounds = plan.map((files, n) => ({ label: 'round ' + n, files, url: async () => { urls.push('server ' + n); return 'server ' + n } }))
      let verdict, text = ''
      for await (const chunk of Readable.from(runRounds(rounds, false, (given) => { verdict = given }, ${fileTimeoutMs})).compose(new spec())) text += chunk
      console.log(JSON.stringify({ urls, text, verdict }))`
    const main = join(folder.path, 'main.mjs')
    writeFileSync(main, code)
    const { NODE_TEST_CONTEXT: _context, ...env } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, [main], { env })
    const outcome: Outcome = JSON.parse(stdout)
    return outcome
  } finally {
    folder.remove()
  }
}

const FILES = {
  'good.test.mjs': `
    import { test } from 'node:test'
    import assert from 'node:assert/strict'
    test('one', () => {})
    test('its server', () => assert.match(process.env.LOCKSTEP_TEST_URL, /^server [01]$/))`,
  'bad.test.mjs': `
    import { test } from 'node:test'
    test('broken', (t) => { t.diagnostic('kept database: x1'); throw new Error('as planned') })`,
  'gone.test.mjs': 'process.exit(3)',
  'hangs.test.mjs': `
    import { test } from 'node:test'
    test('quick', () => {})
    test('outer', async (t) => {
      await t.test('done', () => {})
      await t.test('endless', () => new Promise((resolve) => setTimeout(resolve, 120_000)))
    })
    test('never begun', () => {})`,
  'lingers.test.mjs': `
    import { test } from 'node:test'
    setInterval(() => {}, 1000)
    test('quick', () => {})`,
}

test('the tests of all rounds are counted in one summary at the end, each round against its own server', async () => {
  const { text, urls, verdict } = await rounds(FILES, [['good.test.mjs'], ['good.test.mjs']])
  assert.deepEqual(urls, ['server 0', 'server 1'])
  assert.deepEqual(verdict, { failed: [], kept: [] })
  assert.equal(text.match(/tests \d+/g)?.join(), 'tests 4')
  assert.match(text, /pass 4/)
  assert.match(text, /fail 0/)
  assert.match(text.trimEnd(), /duration_ms [\d.]+$/)
})

test('a failed test and a file that dies fail the run, also when a later round is good, and what was kept is named', async () => {
  const { text, verdict } = await rounds(FILES, [['bad.test.mjs', 'gone.test.mjs'], ['good.test.mjs']])
  assert.equal(verdict.failed.length, 2)
  assert.ok(verdict.failed.some((file) => file.endsWith('bad.test.mjs')))
  assert.ok(verdict.failed.some((file) => file.endsWith('gone.test.mjs')))
  assert.deepEqual(verdict.kept, ['kept database: x1'])
  assert.match(text, /fail 2/)
})

test('a file that runs into its time limit is told with the test that hung', async () => {
  const { text, verdict } = await rounds(FILES, [['good.test.mjs', 'hangs.test.mjs', 'lingers.test.mjs']], 5_000)
  assert.equal(verdict.failed.length, 2)
  assert.match(text, /hangs\.test\.mjs hung in: outer > endless\n/)
  assert.match(text, /lingers\.test\.mjs hung while none of its tests ran/)
})
