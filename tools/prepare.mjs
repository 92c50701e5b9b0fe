// Brings a bare checkout to the point where its programs run: the version of Node, the packages of the lock file, the build.
// Plain JavaScript on Node's own modules, because it runs before anything is installed or compiled. Does only what is due.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { styleText } from './style-text.mjs'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

const NEEDED = [20, 19]

/** A reason to stop, made for reading: it is printed without a stack. */
export class Stop extends Error {}

export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return
  throw new Stop(
    `Lockstep needs Node ${NEEDED.join('.')} or newer; this is Node ${version}.\nInstall a newer one (https://nodejs.org) and run this again.`,
  )
}

/** Runs `npm ci` when what lies in node_modules is not what the lock file says. */
export async function install(root = ROOT) {
  const why = installDue(root)
  if (why === null) return
  const npm = process.env.npm_execpath
  // npm start tells where npm is; elsewhere it is found by name.
  const [file, ...args] = npm?.endsWith('.js') ? [process.execPath, npm] : [npm ?? 'npm']
  await step(
    `installing packages: ${why}`,
    file,
    [...args, 'ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund'],
    {
      root,
      hint: 'npm ci failed. Its own words are above; a registry that cannot be reached is the usual cause.',
    },
  )
}

/** Why an install is due, or null. Compares contents, so neither a touched file nor another clone's folder misleads it. */
export function installDue(root = ROOT) {
  const wanted = readPackages(join(root, 'package-lock.json'))
  if (wanted === null)
    throw new Stop(`package-lock.json in ${root} is missing or no JSON; this is not a whole checkout.`)
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (present === null) return 'there is no node_modules yet'
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '') continue
    const found = present[path]
    // Packages of other platforms are in the lock file and never on the disk.
    if (found === undefined && entry.optional === true) continue
    if (found === undefined) return `${path.slice(path.lastIndexOf('node_modules/') + 13)} is missing`
    if (found.version !== entry.version || found.integrity !== entry.integrity) return 'the lock file has changed'
  }
  return null
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? {}
  } catch {
    return null
  }
}

const PROJECTS = [
  { config: 'tsconfig.json', output: 'dist', folders: ['src'] },
  { config: 'tsconfig.all.json', output: '.build', folders: ['src', 'test', 'tools', 'bench', 'examples'] },
]

/** Compiles each project whose sources are newer than its last build or are other files than those it was made of. */
export async function build(root = ROOT) {
  for (const { config, output, folders } of PROJECTS) {
    const stamp = join(root, output, '.built')
    const { files, newest } = sources(root, [...folders, 'tsconfig.json', 'tsconfig.all.json', 'package-lock.json'])
    const list = files.join('\n')
    if (existsSync(stamp) && statSync(stamp).mtimeMs > newest && readFileSync(stamp, 'utf8') === list) continue
    // A file that was renamed or removed must not live on as compiled code.
    if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== list)
      rmSync(join(root, output), { recursive: true, force: true })
    const started = new Date()
    await step(
      `building ${output}/`,
      process.execPath,
      [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config],
      {
        root,
        hint: 'The compiler refused the sources; its words are above.',
      },
    )
    mkdirSync(dirname(stamp), { recursive: true })
    writeFileSync(stamp, list)
    // What was saved while the compiler ran is newer than this build.
    utimesSync(stamp, started, started)
  }
}

function sources(root, names) {
  const files = []
  let newest = 0
  const visit = (path) => {
    const entry = statSync(join(root, path), { throwIfNoEntry: false })
    if (entry === undefined) return
    if (entry.isDirectory()) {
      for (const name of readdirSync(join(root, path)).toSorted()) if (!name.startsWith('.')) visit(`${path}/${name}`)
    } else if (/\.(ts|json)$/.test(path)) {
      files.push(path)
      newest = Math.max(newest, entry.mtimeMs)
    }
  }
  for (const name of names) visit(name)
  return { files, newest }
}

/** Runs a program quietly, tells how long it takes, and shows what it printed when it fails. */
async function step(title, file, args, { root, hint }) {
  const began = performance.now()
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1)
  say(title)
  const ticking = setInterval(() => say(`still ${title.split(':')[0]} (${seconds()} s)`), 5_000)
  const child = spawn(file, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const status = await new Promise((done) => {
    child.once('error', (error) => {
      output += `${error.message}\n`
      done(-1)
    })
    child.once('close', (code, signal) => done(code ?? signal))
  })
  clearInterval(ticking)
  if (status !== 0) throw new Stop(`${output.trim()}\n${hint}`)
  say(`${title.split(':')[0]}: done in ${seconds()} s`)
}

/** One line of progress; on a terminal it is dimmed. */
export function say(line) {
  process.stderr.write(`${styleText('dim', `· ${line}`, process.stderr)}\n`)
}

/** Ends with the reason of a Stop, or with a full trace of what nobody foresaw. */
export function fail(error) {
  const text = error instanceof Stop ? error.message : (error?.stack ?? String(error))
  process.stderr.write(`${styleText('red', text, process.stderr)}\n`)
  process.exitCode = 1
}
