// The superuser's password of an embedded server: random, kept in one file of mode 0600 beside the data folder, so that a
// later run can adopt the server or start the same data again. Never printed, never in the system's temporary folder.

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { embeddedError, reasonOf } from './embedded-error.ts'

export interface Password {
  readonly file: string
  readonly text: string
}

/** Reads the password, or makes one when the folder has no data yet. */
export function keepPassword(home: string, dataExists: boolean): Password {
  const file = join(home, 'postgres-password')
  if (existsSync(file)) {
    const text = readPassword(file)
    if (text !== '') return { file, text }
  }
  if (dataExists) {
    throw embeddedError(
      `${file} is missing or empty, but the data of a PostgreSQL is there: its password is lost.`,
      `Put the file back, or move the folder ${home} away to begin with empty data.`,
    )
  }
  const text = randomBytes(24).toString('hex')
  try {
    // A file left with a wider mode must not keep it: mode is only used when the file is created.
    rmSync(file, { force: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw embeddedError(`The password of PostgreSQL cannot be written to ${file}: ${reasonOf(error)}.`, '', error)
  }
  return { file, text }
}

function readPassword(file: string): string {
  try {
    chmodSync(file, 0o600)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw embeddedError(`The password of PostgreSQL cannot be read from ${file}: ${reasonOf(error)}.`, '', error)
  }
}
