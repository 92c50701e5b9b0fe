// What a shell line in the documentation may say: scripts that package.json has, commands and options that the program
// knows, routes that the broker serves. Lines of other programs are not judged.
import { COMMANDS } from '../../src/cli/commands.ts'
import { findCommand, parseArguments } from '../../src/cli/parse-arguments.ts'
import { compileRoutes } from '../../src/broker/http/match-route.ts'
import { ROUTES } from '../../src/broker/http/routes.ts'

const OTHERS = new Set(['createdb', 'export', 'git', 'cd', 'psql', 'pg_dump', 'pg_restore', 'systemctl', '#'])

/** Why the line cannot be right, or null. */
export function faultOfLine(line: string, scripts: readonly string[]): string | null {
  const words = wordsOf(line.replace(/^([A-Z_]+=\S+ )+/, ''))
  const [first = '', second = ''] = words
  if (first === '' || OTHERS.has(first) || first.startsWith('#')) return null
  if (first === 'npm') {
    const script = second === 'run' ? (words[2] ?? '') : second
    return scripts.includes(script) || ['ci', 'install'].includes(script)
      ? null
      : `package.json has no script '${script}'`
  }
  if (first === 'node' && second === '.build/bench/main.js') return null
  if (first === 'curl') return faultOfCurl(words)
  const rest =
    first === 'npx' && second === 'lockstep'
      ? words.slice(2)
      : first === 'node' && second === 'dist/cli/main.js'
        ? words.slice(2)
        : first === 'lockstep'
          ? words.slice(1)
          : null
  if (rest === null) return `'${first}' is no command the documentation knows`
  try {
    const command = findCommand(COMMANDS, rest)
    if (command !== null) parseArguments(command, rest.slice(command.name.split(' ').length))
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function faultOfCurl(words: readonly string[]): string | null {
  const url = words.find((word) => /^(http:\/\/)?localhost:/.test(word))
  if (url === undefined) return 'curl without an address of localhost'
  const path = url.replace(/^(http:\/\/)?localhost:\d+/, '').replace(/\?.*$/, '')
  const given = words.indexOf('-X')
  const method = given === -1 ? (words.some((word) => word === '-d') ? 'POST' : 'GET') : (words[given + 1] ?? '')
  const found = compileRoutes(ROUTES)(method, path)
  return found === null || Array.isArray(found) ? `no route ${method} ${path}` : null
}

/** Words of a line as a shell would cut it: spaces, single and double quotes. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
}
