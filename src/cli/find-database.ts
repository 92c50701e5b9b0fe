// Finds the connection string of a command: a file, the environment, or the embedded server that `lockstep dev` runs in this
// folder. Never an argument; what was missing is answered with the lines to type.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRunning } from '../embedded/find-running.ts'
import { UsageError } from './usage-error.ts'

export interface FoundDatabase {
  readonly connectionString: string
  /** In words, without secrets: `DATABASE_URL`. */
  readonly source: string
}

/** `file`: the value of --database-file. */
export function findDatabase(file: string | null, env: NodeJS.ProcessEnv, folder: string): FoundDatabase {
  if (file !== null) return fromFile(file, '--database-file')
  const url = env['DATABASE_URL']
  if (url !== undefined && url !== '')
    return { connectionString: checkUrl(url, 'DATABASE_URL'), source: 'DATABASE_URL' }
  const named = env['DATABASE_URL_FILE']
  if (named !== undefined && named !== '') return fromFile(named, 'DATABASE_URL_FILE')
  const home = join(folder, '.lockstep')
  const running = findRunning(home)
  if (running !== null) return { connectionString: running, source: `the embedded PostgreSQL in ${home}` }
  throw new UsageError(
    'No database was named: DATABASE_URL is not set, and no `lockstep dev` runs in this folder.',
    'export DATABASE_URL=postgres://user@host:5432/database    # or, for one to try: lockstep dev',
  )
}

function fromFile(file: string, source: string): FoundDatabase {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new UsageError(`${source} names ${file}, which cannot be read (${reason}).`)
  }
  return { connectionString: checkUrl(text, source), source: `${source} (${file})` }
}

function checkUrl(url: string, source: string): string {
  if (/^postgres(ql)?:\/\//i.test(url) && URL.canParse(url)) return url
  throw new UsageError(
    `${source} holds no connection string that can be read.`,
    'export DATABASE_URL=postgres://user:password@host:5432/database    # special characters of the password as %XX',
  )
}
