// What `npm start` and `npm test` do before anything is compiled: only what is due, and in words when it cannot be done.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../src/db/sql-files.ts'
import { temporaryFolder } from '../src/testing/temporary-folder.ts'

const folder = temporaryFolder('prepare')
after(() => folder.remove())

/** Runs a statement in a process that has the exports of prepare.mjs; `print` shows a value as JSON. */
function prepare(statement: string): { out: string; err: string; status: number | null } {
  const file = pathToFileURL(join(packageRoot(), 'tools', 'prepare.mjs')).href
  const script = `
    import { build, checkNode, fail, installDue } from ${JSON.stringify(file)}
    const print = (value) => console.log(JSON.stringify(value))
    try { ${statement} } catch (error) { fail(error) }`
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return { out: ended.stdout.trim(), err: ended.stderr, status: ended.status }
}

function checkout(name: string, lock: object, installed: object | null): string {
  const root = join(folder.path, name)
  mkdirSync(join(root, 'node_modules'), { recursive: true })
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: lock }))
  const hidden = join(root, 'node_modules', '.package-lock.json')
  if (installed !== null) writeFileSync(hidden, JSON.stringify({ packages: installed }))
  return root
}

const due = (root: string): unknown => JSON.parse(prepare(`print(installDue(${JSON.stringify(root)}))`).out)

it('nothing is installed when what is there is what the lock file says', () => {
  const a = { version: '1.0.0', integrity: 'sha512-a' }
  const lock = { '': {}, 'node_modules/a': a, 'node_modules/other-platform': { ...a, optional: true } }
  assert.equal(due(checkout('same', lock, { 'node_modules/a': a })), null)
})

it('an install is due without node_modules, with a missing package and with another version', () => {
  const lock = { '': {}, 'node_modules/@x/a': { version: '1.0.0', integrity: 'sha512-a' } }
  assert.equal(due(checkout('none', lock, null)), 'there is no node_modules yet')
  assert.equal(due(checkout('missing', lock, {})), '@x/a is missing')
  const other = { 'node_modules/@x/a': { version: '1.0.0', integrity: 'sha512-b' } }
  assert.equal(due(checkout('changed', lock, other)), 'the lock file has changed')
})

it('a folder that is no whole checkout is named', () => {
  const { err, status } = prepare(`installDue(${JSON.stringify(folder.path)})`)
  assert.match(err, /^package-lock\.json in .* is missing or no JSON; this is not a whole checkout\.\n$/)
  assert.equal(status, 1)
})

it('a Node that is too old is refused with both versions, one that is new enough is not', () => {
  const old = prepare(`checkNode('18.20.1')`)
  assert.match(old.err, /needs Node 20\.19 or newer; this is Node 18\.20\.1/)
  assert.equal(old.status, 1)
  assert.equal(prepare(`checkNode('20.18.9')`).status, 1)
  for (const version of ['20.19.0', '22.0.0', '100.1.0']) assert.equal(prepare(`checkNode('${version}')`).status, 0)
})

it('a build is made when sources are new, changed or gone, and only then', () => {
  const root = join(folder.path, 'build')
  mkdirSync(join(root, 'src'), { recursive: true })
  symlinkSync(join(packageRoot(), 'node_modules'), join(root, 'node_modules'))
  const options = { target: 'es2023', module: 'nodenext', rootDir: '.', types: [] }
  const config = (outDir: string): string =>
    JSON.stringify({ compilerOptions: { ...options, outDir }, include: ['src'] })
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(root, 'package-lock.json'), '{}')
  writeFileSync(join(root, 'tsconfig.json'), config('dist'))
  writeFileSync(join(root, 'tsconfig.all.json'), config('.build'))
  writeFileSync(join(root, 'src', 'a.ts'), 'export const a: number = 1\n')
  writeFileSync(join(root, 'src', 'b.ts'), 'export const b: number = 1\n')
  const past = new Date(Date.now() - 60_000)
  for (const file of ['package-lock.json', 'tsconfig.json', 'tsconfig.all.json', 'src/a.ts', 'src/b.ts']) {
    utimesSync(join(root, file), past, past)
  }
  const build = (): ReturnType<typeof prepare> => prepare(`await build(${JSON.stringify(root)})`)

  assert.match(build().err, /building dist\/: done in .*building \.build\/: done in/s)
  assert.ok(existsSync(join(root, '.build', 'src', 'b.js')))
  assert.equal(build().err, '')

  writeFileSync(join(root, 'src', 'a.ts'), 'export const a: number = 2\n')
  assert.match(build().err, /building dist/)
  assert.equal(build().err, '')

  rmSync(join(root, 'src', 'b.ts'))
  assert.match(build().err, /building dist/)
  assert.equal(existsSync(join(root, '.build', 'src', 'b.js')), false)

  writeFileSync(join(root, 'src', 'a.ts'), `export const a: number = 'text'\n`)
  const refused = build()
  assert.equal(refused.status, 1)
  assert.match(refused.err, /src\/a\.ts.*error TS2322.*The compiler refused the sources/s)
  assert.match(build().err, /error TS2322/)
})
