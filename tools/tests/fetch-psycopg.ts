// Brings psycopg from PyPI into a virtual environment below .lockstep, once, in exactly one version. Without Python or without
// a package index that is a named absence, or a failure where LOCKSTEP_REQUIRE=all promises that everything is there.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const VERSION = '3.3.9'

/** A Python that has it, or why there is none. */
export async function fetchPsycopg(root: string): Promise<{ readonly python: string } | { readonly absent: string }> {
  const home = join(root, '.lockstep', `psycopg-${VERSION}`)
  const found = join(home, 'done')
  const python = join(home, 'bin', 'python3')
  if (existsSync(found)) return { python }
  try {
    await run('python3', ['--version'])
  } catch {
    return { absent: 'python3' }
  }
  // A virtual environment cannot be moved: it is made in place, and a file says that it is whole.
  mkdirSync(dirname(home), { recursive: true })
  try {
    rmSync(home, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', home])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `psycopg[binary]==${VERSION}`])
    writeFileSync(found, '')
    return { python }
  } catch (error) {
    rmSync(home, { recursive: true, force: true })
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    return { absent: `psycopg ${VERSION} (${reason})` }
  }
}
