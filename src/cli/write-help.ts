// The help of the whole program and of one command, made from the table. Plain text, no wider than a terminal.

import { type Command, COMMON_OPTIONS, type Option } from './command.ts'

export function helpOfAll(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map((command) => usage(command).length))
  return [
    `lockstep ${version}: broker, durable workflows and state on your own PostgreSQL`,
    '',
    'usage: lockstep <command> [options]',
    '',
    ...commands.map((command) => `  ${usage(command).padEnd(width)}  ${command.summary}`),
    '',
    'Every command has --help and --json. Commands that talk to a database read DATABASE_URL; beside a running',
    '`lockstep dev` they find its database by themselves.',
    '',
    'Begin with: lockstep dev',
  ].join('\n')
}

export function helpOfOne(command: Command): string {
  const options = { ...command.options, ...COMMON_OPTIONS }
  const lines = [`usage: lockstep ${usage(command)} [options]`, '', ...wrap(command.summary, 100)]
  if (command.detail !== undefined) lines.push('', ...wrap(command.detail, 100))
  if (command.arguments.length > 0) {
    lines.push('', 'arguments')
    lines.push(...listing(command.arguments.map((each) => [`<${each.name}>`, each.meaning])))
  }
  lines.push('', 'options')
  lines.push(...listing(Object.entries(options).map(([name, option]) => [flagText(name, option), meaningText(option)])))
  lines.push('', 'examples', ...command.examples.map((example) => `  ${example}`))
  return lines.join('\n')
}

/** `queue push <queue> [payload]` */
export function usage(command: Command): string {
  const words = command.arguments.map((each) => (each.optional === true ? `[${each.name}]` : `<${each.name}>`))
  return [command.name, ...words].join(' ')
}

/** `--port N` */
export function flagText(name: string, option: Option): string {
  if (option.kind === 'flag') return `--${name}`
  return `--${name} ${option.value ?? option.choices?.join('|') ?? 'TEXT'}`
}

export function meaningText(option: Option): string {
  return option.fallback === undefined ? option.meaning : `${option.meaning} Default: ${option.fallback}.`
}

function listing(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(24, Math.max(...rows.map(([left]) => left.length)))
  return rows.flatMap(([left, right]) => {
    const lines = wrap(right, 100 - width - 4)
    const head = left.length > width ? [`  ${left}`] : []
    const first = head.length === 0 ? left.padEnd(width) : ' '.repeat(width)
    return [...head, ...lines.map((line, index) => `  ${index === 0 ? first : ' '.repeat(width)}  ${line}`)]
  })
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
