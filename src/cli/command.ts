// What a command is: data from which the parser, the help and the reference page are made, and one function that does it.

import type { Call } from './call.ts'

export interface Argument {
  readonly name: string
  readonly meaning: string
  /** Left out: the command runs without it. */
  readonly optional?: true
}

export interface Option {
  /** A flag takes no value; the others are checked before the command runs. */
  readonly kind: 'flag' | 'text' | 'integer' | 'choice'
  readonly meaning: string
  /** The placeholder in the help, as in `--port N`. */
  readonly value?: string
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
  /** Told in the help; the command itself applies it. */
  readonly fallback?: string
}

export interface Command {
  /** The words after `lockstep`: `dev`, `queue list`. */
  readonly name: string
  readonly summary: string
  /** Further sentences for the command's own help. */
  readonly detail?: string
  readonly arguments: readonly Argument[]
  readonly options: Readonly<Record<string, Option>>
  /** Command lines that work as they stand. */
  readonly examples: readonly string[]
  /** The exit status: 0 done, 1 the thing asked for is not so. Throws for faults. */
  readonly run: (call: Call) => Promise<number>
}

/** Options of every command. */
export const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  json: { kind: 'flag', meaning: 'Print one JSON value for programs (errors too, on the error output).' },
  help: { kind: 'flag', meaning: 'Print how to use this command.' },
}

/** Options of every command that talks to a database. */
export const DATABASE_OPTIONS: Readonly<Record<string, Option>> = {
  'database-file': {
    kind: 'text',
    value: 'FILE',
    meaning:
      'Read the connection string from this file. Default: DATABASE_URL, the file in DATABASE_URL_FILE, or the database of `lockstep dev` in ./.lockstep.',
  },
}
