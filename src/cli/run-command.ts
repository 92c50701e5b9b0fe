// One run of the program: find the command, read its line, do it, and turn whatever happens into words and an exit status.
// 0 done; 1 a fault, or the thing asked for is not so; 2 the command line is wrong.

import { asRun } from './as-run.ts'
import { createCall } from './call.ts'
import { COMMANDS } from './commands.ts'
import { errorJson, errorText, explainError } from './explain-error.ts'
import { createOutput } from './output.ts'
import { packageVersion } from './package-version.ts'
import { findCommand, parseArguments } from './parse-arguments.ts'
import { watchInterrupt } from './watch-interrupt.ts'
import { helpOfAll, helpOfOne } from './write-help.ts'

export async function runCommand(given: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  // `lockstep help queue push` is another way to say `lockstep queue push --help`.
  const words = given[0] === 'help' ? [...given.slice(1), '--help'] : given
  const output = createOutput(words.includes('--json'))
  const interruption = watchInterrupt()
  try {
    const command = findCommand(COMMANDS, words)
    if (command === null) {
      const version = packageVersion()
      if (words.includes('--version')) output.result({ version }, () => version)
      else output.result({ commands: COMMANDS.map(({ name }) => name) }, () => asRun(helpOfAll(COMMANDS, version)))
      return words.length === 0 || words.includes('--help') || words.includes('--version') ? 0 : 2
    }
    const parsed = parseArguments(command, words.slice(command.name.split(' ').length))
    if (parsed.options['help'] === true) {
      output.result({ usage: helpOfOne(command) }, () => asRun(helpOfOne(command)))
      return 0
    }
    return await command.run(createCall(parsed, output, env, interruption.signal))
  } catch (error) {
    const explained = explainError(error)
    output.error(output.json ? errorJson(explained) : errorText(explained))
    return explained.status
  } finally {
    interruption.stop()
  }
}
