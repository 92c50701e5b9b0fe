// Brings packages from npm that only some tests need into a folder of .lockstep, once, in exactly the named versions. Without a
// registry that is a named absence, or a failure where LOCKSTEP_REQUIRE=all promises that everything is there.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface PackageWish {
  readonly root: string
  /** For people. */
  readonly title: string
  /** Below .lockstep; names the version. */
  readonly folder: string
  /** `name@version`. */
  readonly package: string
  /** A file that is there when the install was whole, relative to the folder. */
  readonly proof: string
}

/** The folder, or null when it cannot be had. */
export async function fetchPackage({
  root,
  title,
  folder,
  package: wanted,
  proof,
}: PackageWish): Promise<string | null> {
  const home = join(root, '.lockstep', folder)
  if (existsSync(join(home, proof))) return home
  const making = `${home}.${process.pid}`
  mkdirSync(making, { recursive: true })
  writeFileSync(join(making, 'package.json'), '{ "private": true }\n')
  try {
    console.log(`fetching ${title} (${wanted})`)
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-save', wanted]
    await promisify(execFile)('npm', args, { cwd: making })
    moveInto(making, home, proof)
    return home
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    if (process.env['LOCKSTEP_REQUIRE'] === 'all')
      throw new Error(`${title} cannot be fetched: ${reason}`, { cause: error })
    console.log(`not tested: ${title} cannot be fetched (${reason})`)
    return null
  }
}

/** Another process may have come first; then its copy stays, as it may be in use. */
function moveInto(making: string, home: string, proof: string): void {
  if (existsSync(home) && !existsSync(join(home, proof))) rmSync(home, { recursive: true, force: true })
  try {
    renameSync(making, home)
  } catch (error) {
    if (!existsSync(join(home, proof))) throw error
    rmSync(making, { recursive: true, force: true })
  }
}
