// Everything that CI runs, on a machine with nothing but Node and npm: install, compile, format, lint, the house's own
// checks, the examples in other languages as far as their tools are there, the tests. Plain JavaScript, because it runs
// before anything is compiled. Stops at the first fault.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is needed; this is ${process.versions.node}.`)
  process.exit(1)
}

const bin = (name) => join(root, 'node_modules', '.bin', name)
const long = process.argv.includes('--long')

if (!installed()) step('install', 'npm', ['ci', '--no-audit', '--no-fund'])
// What was compiled from sources that are gone must not be tested.
for (const folder of ['dist', '.build']) rmSync(join(root, folder), { recursive: true, force: true })
step('compile', bin('tsc'), ['-p', 'tsconfig.json'])
step('compile the tests', bin('tsc'), ['-p', 'tsconfig.all.json'])
step('format', bin('oxfmt'), ['--check', '.'])
step('lint', bin('oxlint'), ['--type-aware', '.'])
step('house', process.execPath, ['.build/tools/check.js'])
step('languages', process.execPath, ['.build/tools/languages.js'])
step('test', process.execPath, ['--enable-source-maps', '.build/tools/test.js', ...(long ? ['--long'] : [])])

function step(name, command, args) {
  const started = performance.now()
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status === 0) {
    if (name !== 'test') console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
    return
  }
  console.error(`${name} failed${error === undefined ? '' : `: ${error.message}`}`)
  process.exit(status ?? 1)
}

/** True when every package of the lock file is there in its version; what is optional may be for another platform. */
function installed() {
  const there = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(there)) return false
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const found = JSON.parse(readFileSync(there, 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || found[path]?.version === entry.version,
  )
}
