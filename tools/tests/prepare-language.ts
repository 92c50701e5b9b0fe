// Fetches and builds the example of one language, once, by the script that a reader runs too. Where LOCKSTEP_REQUIRE=all promises
// that everything is there, Debian's packages of a missing tool are installed first; elsewhere a missing tool is told by name.
import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** The languages of examples/languages, each with the Debian packages that hold its tools. */
export const LANGUAGES = {
  cpp: ['g++', 'libcurl4-openssl-dev', 'nlohmann-json3-dev'],
  go: ['golang-go'],
  javascript: [],
  php: ['php-cli', 'php-curl'],
  python: ['python3', 'python3-venv'],
  rust: ['cargo'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type Language = keyof typeof LANGUAGES

export const LANGUAGE_NAMES: readonly Language[] = ['cpp', 'go', 'javascript', 'php', 'python', 'rust']

/** What the script of the examples ends with when a tool or a package is missing. */
const ABSENT = 3

/** Null when the example can run, else what is missing. Throws when the example itself cannot be built. */
export async function prepareLanguage(root: string, language: Language): Promise<string | null> {
  const script = join(root, 'examples', 'languages', 'run.sh')
  let { status, output } = await run('bash', [script, '--prepare', language])
  if (status === ABSENT && process.env['LOCKSTEP_REQUIRE'] === 'all' && LANGUAGES[language].length > 0) {
    const said = await installPackages(LANGUAGES[language])
    ;({ status, output } = await run('bash', [script, '--prepare', language]))
    if (status === ABSENT) output += said
  }
  if (status === 0) return null
  if (status === ABSENT) return output.trim().replace(/^not run: (.*) is missing/, '$1')
  throw new Error(`the example in ${language} cannot be built:\n${output}`)
}

async function installPackages(packages: readonly string[]): Promise<string> {
  // Another run on this machine may hold the lock of the packages for a while.
  const patient = ['-o', 'DPkg::Lock::Timeout=300', '-qq']
  const update = await run('apt-get', [...patient, 'update'])
  const install = await run('apt-get', [...patient, 'install', '-y', '--no-install-recommends', ...packages])
  return install.status === 0 ? '' : `${update.output}${install.output}`
}

interface Ended {
  readonly status: number
  readonly output: string
}

async function run(command: string, words: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const child = spawn(command, [...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', (error) => resolve({ status: 127, output: error.message }))
    child.once('close', (status) => resolve({ status: status ?? 1, output }))
  })
}
