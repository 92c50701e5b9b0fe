// docs/reference/cli.md: every command, from the table that the program parses by.
import { COMMON_OPTIONS } from '../../src/cli/command.ts'
import type { Command, Option } from '../../src/cli/command.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { flagText, meaningText, usage } from '../../src/cli/write-help.ts'
import { code, page, table } from './page.ts'
import type { Page } from './page.ts'

const INTRO =
  'The command `lockstep`. It ends with 0 when what was asked is done, 1 when it is not so or went wrong, 2 when the command line cannot be run. ' +
  'Results go to the standard output, progress and errors to the error output. With `--json` a result is one line of JSON, and an error is `{"error":{"code","message","retry","hint"}}`. ' +
  'A connection string is never an argument: it comes from `DATABASE_URL`, from the file named by `--database-file` or `DATABASE_URL_FILE`, or from a `lockstep dev` that runs in the same folder.'

export function cliPage(): Page {
  return page('cli.md', 'Command line', INTRO, [...COMMANDS.map(section), common()].join('\n\n'))
}

function section(command: Command): string {
  const parts = [`## lockstep ${command.name}`, command.summary]
  if (command.detail !== undefined) parts.push(command.detail)
  parts.push(`\`\`\`\nlockstep ${usage(command)} [options]\n\`\`\``)
  if (command.arguments.length > 0) {
    parts.push(
      table(
        ['argument', 'meaning'],
        command.arguments.map(({ name, meaning }) => [code(name), meaning]),
      ),
    )
  }
  const options = Object.entries(command.options)
  if (options.length > 0) parts.push(optionTable(options))
  parts.push(`\`\`\`sh\n${command.examples.join('\n')}\n\`\`\``)
  return parts.join('\n\n')
}

function common(): string {
  return `## Options of every command\n\n${optionTable(Object.entries(COMMON_OPTIONS))}`
}

function optionTable(options: readonly (readonly [string, Option])[]): string {
  return table(
    ['option', 'meaning'],
    options.map(([name, option]) => [code(flagText(name, option)), meaningText(option)]),
  )
}
