// A folder for one test, below .lockstep/ of the checkout and not in the system's temporary folder: a database's files belong
// on a real disk, and the tests must run where that folder cannot be written.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from '../db/sql-files.ts'

/** The new folder, and how to remove it with all it holds. */
export function temporaryFolder(name: string): { path: string; remove: () => void } {
  const base = join(packageRoot(), '.lockstep', 'tests')
  mkdirSync(base, { recursive: true })
  const path = mkdtempSync(join(resolve(base), `${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}
