// `lockstep url`: prints the connection string that the other commands would use, for scripts and other programs. Its password
// goes nowhere but to the standard output, and only when it is asked for by name.

import type { Command } from '../command.ts'
import { DATABASE_OPTIONS } from '../command.ts'
import { findDatabase } from '../find-database.ts'

export const url: Command = {
  name: 'url',
  summary: 'Print the connection string of the database, for scripts.',
  detail:
    'The database is the one that the other commands would use: DATABASE_URL, or the embedded one of a running `lockstep dev` in this folder. The password is printed as *** unless --password is given.',
  arguments: [],
  options: {
    password: { kind: 'flag', meaning: 'Print it with its password: whoever reads the output has the database.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep url', 'lockstep url --password'],
  async run(call) {
    const { connectionString, source } = findDatabase(call.text('database-file'), call.env, process.cwd())
    const shown = call.flag('password') ? connectionString : hidden(connectionString)
    call.output.result({ url: shown, source }, () => shown)
    return 0
  },
}

function hidden(connectionString: string): string {
  const parsed = new URL(connectionString)
  if (parsed.password !== '') parsed.password = '***'
  if (parsed.searchParams.has('password')) parsed.searchParams.set('password', '***')
  return parsed.href
}
