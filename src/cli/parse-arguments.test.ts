import assert from 'node:assert/strict'
import { it } from 'node:test'
import { COMMANDS } from './commands.ts'
import { findCommand, parseArguments } from './parse-arguments.ts'

/** The words of an example as a shell would split them. */
function words(line: string): string[] {
  const command = line.slice(line.indexOf('lockstep ') + 9).split(/ [<>|] ?/)[0] ?? ''
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}

for (const command of COMMANDS) {
  it(`the examples of \`${command.name}\` are command lines it accepts`, () => {
    assert.ok(command.examples.length > 0)
    for (const example of command.examples) {
      const given = words(example)
      assert.equal(findCommand(COMMANDS, given), command)
      const parsed = parseArguments(command, given.slice(command.name.split(' ').length))
      assert.equal(parsed.command, command)
    }
  })
}

it('an option of the object prototype is unknown like any other', () => {
  const [command] = COMMANDS
  assert.ok(command !== undefined)
  for (const name of ['__proto__', 'constructor', 'toString']) {
    assert.throws(() => parseArguments(command, [`--${name}`]), /has no option/)
  }
})
