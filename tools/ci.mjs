// Everything that CI runs, on a machine with nothing but Node and npm: install, compile, format, lint, the house's own
// checks, the examples in other languages as far as their tools are there, the tests. Plain JavaScript, because it runs
// before anything is compiled. Stops at the first fault.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Node 20.19 or newer is needed; this is ${process.versions.node}.`)
  process.exit(1)
}

/** By Debian's name; whether it is there. */
const SYSTEM_PACKAGES = {
  faketime: () => globbed('/usr/lib', 'faketime/libfaketimeMT.so.1'),
}

const bin = (name) => join(root, 'node_modules', '.bin', name)
const long = process.argv.includes('--long')

if (process.env['LOCKSTEP_REQUIRE'] === 'all') installSystemPackages()
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

function globbed(above, file) {
  if (!existsSync(above)) return false
  return ['.', ...readdirSync(above)].some((folder) => existsSync(join(above, folder, file)))
}

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

/** What the tests use of the system and npm does not have, where this machine may install it. What stays missing, they name. */
function installSystemPackages() {
  const missing = Object.entries(SYSTEM_PACKAGES).flatMap(([name, there]) => (there() ? [] : [name]))
  if (missing.length === 0 || process.getuid?.() !== 0) return
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  console.log(`installing ${missing.join(', ')}`)
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', ...missing], quiet).status === 0
  // The list of packages may be missing or old.
  if (!install() && !(spawnSync('apt-get', ['update'], quiet).status === 0 && install()))
    console.log(`${missing.join(', ')} cannot be installed`)
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
