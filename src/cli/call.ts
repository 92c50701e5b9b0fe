// What a command gets: its checked arguments and options, where its words go, and a database that is opened only when it is
// asked for and always closed again.

import { checkSchema } from '../db/migrate/schema-state.ts'
import { type Database, openDatabase } from '../db/pool.ts'
import { userInfo } from 'node:os'
import { findDatabase } from './find-database.ts'
import { vaultFrom } from './vault-from.ts'
import type { Output } from './output.ts'
import type { Parsed } from './parse-arguments.ts'
import { withProgress } from './progress.ts'

export interface Call {
  readonly output: Output
  readonly env: NodeJS.ProcessEnv
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** The named argument; the empty text when it is optional and was left out. */
  argument(name: string): string
  text(option: string): string | null
  integer(option: string): number | null
  flag(option: string): boolean
}

export function createCall(parsed: Parsed, output: Output, env: NodeJS.ProcessEnv, signal: AbortSignal): Call {
  const { options } = parsed
  return {
    output,
    env,
    signal,
    argument: (name) => parsed.arguments[name] ?? '',
    text: (name) => (typeof options[name] === 'string' ? options[name] : null),
    integer: (name) => (typeof options[name] === 'number' ? options[name] : null),
    flag: (name) => options[name] === true,
  }
}

/** Runs `use` on a database whose schema fits this code; `schema: 'any'` leaves that unchecked. */
export async function withDatabase<T>(
  call: Call,
  use: (database: Database) => Promise<T>,
  schema: 'fits' | 'any' = 'fits',
): Promise<T> {
  const { connectionString, source } = findDatabase(call.text('database-file'), call.env, process.cwd())
  const vault = vaultFrom(call.env)
  const database = openDatabase({
    connectionString,
    connections: 2,
    applicationName: 'lockstep command',
    vault,
    acting: { actor: `command:${userName()}`, requestId: null },
  })
  try {
    if (schema === 'fits') {
      await withProgress(call.output, `connecting to the database of ${source}`, checkSchema(database))
    }
    return await use(database)
  } finally {
    await database.close()
  }
}

/** Of who runs the command, for the audit; a process without an entry in the list of users has its number. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
