// Reads a command line against the table of commands. Unknown words are answered with the nearest known one; values are
// checked here so that no command sees text where a number belongs; a connection string on the command line is refused.

import { parseArgs } from 'node:util'
import { type Command, COMMON_OPTIONS, type Option } from './command.ts'
import { nearest } from './nearest.ts'
import { UsageError } from './usage-error.ts'

export interface Parsed {
  readonly command: Command
  readonly arguments: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string | number | true>>
}

/** The command whose words open the line, or null when the line names none (`lockstep`, `lockstep --help`). */
export function findCommand(commands: readonly Command[], words: readonly string[]): Command | null {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    const found = commands.find((command) => command.name === name)
    if (found !== undefined) return found
  }
  const first = words[0]
  if (first === undefined || first.startsWith('-')) return null
  refuseSecret(words)
  const group = commands.filter((command) => command.name.startsWith(`${first} `)).map((command) => command.name)
  if (group.length > 0) {
    const wanted = words[1]
    if (wanted === undefined || wanted.startsWith('-')) {
      throw new UsageError(
        `\`lockstep ${first}\` needs one more word.`,
        group.map((name) => `lockstep ${name}`).join('\n'),
      )
    }
    const guess = nearest(`${first} ${wanted}`, group)
    throw new UsageError(
      `There is no command \`${first} ${wanted}\`.`,
      guess === null ? group.map((name) => `lockstep ${name}`).join('\n') : `lockstep ${guess}`,
    )
  }
  const firstWords = [...new Set(commands.map((command) => command.name.split(' ')[0] ?? ''))]
  throw new UsageError(`There is no command \`${first}\`.`, `lockstep ${nearest(first, firstWords) ?? '--help'}`)
}

export function parseArguments(command: Command, words: readonly string[]): Parsed {
  refuseSecret(words)
  const known: Readonly<Record<string, Option>> = { ...command.options, ...COMMON_OPTIONS }
  const help = `lockstep ${command.name} --help`
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(known).map(([name, option]) => [name, { type: option.kind === 'flag' ? 'boolean' : 'string' }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const options: Record<string, string | number | true> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = Object.hasOwn(known, token.name) ? known[token.name] : undefined
    if (option === undefined) {
      const guess = nearest(token.name, Object.keys(known))
      throw new UsageError(
        `\`lockstep ${command.name}\` has no option ${token.rawName}${guess === null ? '' : `; did you mean --${guess}?`}`,
        help,
      )
    }
    if (Object.hasOwn(options, token.name)) throw new UsageError(`${token.rawName} is given twice.`, help)
    options[token.name] = readOption(token.rawName, option, token.value, help)
  }
  if (options['help'] === true) return { command, arguments: {}, options }
  return { command, arguments: nameArguments(command, positionals, help), options }
}

function readOption(name: string, option: Option, value: string | undefined, help: string): string | number | true {
  if (option.kind === 'flag') {
    if (value === undefined) return true
    throw new UsageError(`${name} takes no value.`, help)
  }
  if (value === undefined || value === '') {
    throw new UsageError(`${name} needs a value: ${name} ${option.value ?? option.choices?.join('|') ?? 'TEXT'}`, help)
  }
  if (option.kind === 'choice' && option.choices?.includes(value) !== true) {
    throw new UsageError(`${name} must be one of ${option.choices?.join(', ') ?? ''}; got '${value}'.`, help)
  }
  if (option.kind !== 'integer') return value
  const number = Number(value)
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = option
  if (!/^\d{1,16}$/.test(value) || number < min || number > max) {
    throw new UsageError(`${name} must be a whole number from ${min} to ${max}; got '${value}'.`, help)
  }
  return number
}

function nameArguments(command: Command, values: readonly string[], help: string): Record<string, string> {
  const named: Record<string, string> = {}
  for (const [index, argument] of command.arguments.entries()) {
    const value = values[index]
    if (value !== undefined) named[argument.name] = value
    else if (argument.optional !== true) {
      throw new UsageError(`\`lockstep ${command.name}\` needs <${argument.name}>: ${argument.meaning}`, help)
    }
  }
  const surplus = values[command.arguments.length]
  if (surplus !== undefined) {
    throw new UsageError(`\`lockstep ${command.name}\` does not know what to do with '${surplus}'.`, help)
  }
  return named
}

/** Arguments are seen by every user of the machine and kept in shells' histories. The text itself is not repeated. */
function refuseSecret(words: readonly string[]): void {
  if (words.some((word) => /postgres(ql)?:\/\/[^/\s]*:[^/\s]*@/i.test(word))) {
    throw new UsageError(
      'A connection string does not belong on the command line: other users of this machine can read it there.',
      'read -rs DATABASE_URL && export DATABASE_URL    # then run the command again, without it',
    )
  }
}
