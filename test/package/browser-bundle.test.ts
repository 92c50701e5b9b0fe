// The client bundles for a browser: the main entry under the condition `browser`, and the ./http entry without any condition.
// A Node built-in or the driver anywhere in either fails here, before it fails a user's build.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build, type BuildResult, type Metafile } from 'esbuild'
import { packageRoot } from '../../src/db/sql-files.ts'

async function bundle(source: string, conditions: readonly string[]): Promise<{ meta: Metafile; text: string }> {
  const result: BuildResult<{ metafile: true; write: false }> = await build({
    stdin: { contents: source, resolveDir: packageRoot(), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: [...conditions],
    metafile: true,
    write: false,
    minify: true,
    logLevel: 'silent',
  })
  return { meta: result.metafile, text: result.outputFiles.map((file) => file.text).join('\n') }
}

function inputsOf(meta: Metafile): readonly string[] {
  return Object.keys(meta.inputs)
}

const USE = `
  const lockstep = new Lockstep({ url: 'http://127.0.0.1:6632' })
  export const run = () => lockstep.queue(queue('orders')).group('g').each().consume(async (m) => lockstep.ack(m))
`

test('the main entry bundles for a browser with PostgreSQL as a readable refusal', async () => {
  const { meta, text } = await bundle(`import { Lockstep, queue } from 'lockstep'\n${USE}`, [])
  const inputs = inputsOf(meta)
  assert.ok(inputs.some((path) => path.endsWith('client/postgres-refused.js')))
  for (const path of inputs)
    assert.doesNotMatch(path, /transport-postgres|\/db\/|\/traffic\/|\/operations\/|node_modules/)
  assert.doesNotMatch(text, /from\s*["']node:|require\(|import\(\s*["']pg["']/)
})

test('the ./http entry bundles without any condition, and has no way to PostgreSQL', async () => {
  const { meta, text } = await bundle(`import { Lockstep, queue } from 'lockstep/http'\n${USE}`, [])
  for (const path of inputsOf(meta))
    assert.doesNotMatch(path, /postgres|\/db\/|\/traffic\/|\/operations\/|node_modules/)
  assert.doesNotMatch(text, /node:|#postgres/)
  // All verbs of the client are in it, and nothing of anybody else.
  assert.ok(text.length < 130_000, `${text.length} bytes`)
})

test('the ./streams entry bundles for a browser, and a client without streams carries none', async () => {
  const source = `
    import { Lockstep } from 'lockstep/http'
    import { count, stream } from 'lockstep/streams'
    const seen = stream('s', 'in').window('1m').aggregate({ seen: count() }).to('out')
    export const run = () => new Lockstep({ url: 'http://127.0.0.1:6632' }).stream(seen).start()
  `
  const { meta, text } = await bundle(source, [])
  for (const path of inputsOf(meta))
    assert.doesNotMatch(path, /postgres|\/db\/|\/traffic\/|\/operations\/|node_modules/)
  assert.doesNotMatch(text, /node:|#postgres/)
  const without = await bundle(`import { Lockstep, queue } from 'lockstep/http'\n${USE}`, [])
  assert.deepEqual(
    inputsOf(without.meta).filter((path) => path.includes('/streams/') && !path.endsWith('stream-entry.js')),
    [],
  )
})

test('the rig sees a Node built-in', async () => {
  await assert.rejects(bundle(`import { createServer } from 'node:net'; export const x = createServer`, []), /node:net/)
})
