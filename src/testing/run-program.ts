// Runs the command line as a person or a script does: a child process with nothing of this machine's environment, its words,
// its JSON and its status. For tests only.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTestDatabase } from './database.ts'
import { temporaryFolder } from './temporary-folder.ts'

const PROGRAM = fileURLToPath(new URL('../cli/main.js', import.meta.url))
let installed: string | null = null

/** The program under the name that an install gives it, in a folder of its own. */
function installedProgram(): string {
  if (installed === null) {
    const folder = temporaryFolder('bin')
    process.once('exit', () => folder.remove())
    installed = join(folder.path, 'lockstep')
    symlinkSync(PROGRAM, installed)
  }
  return installed
}

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly cwd?: string
  /** As from a checkout, not installed: `node main.js …` in the folder of the program. */
  readonly bare?: boolean
}

/** Only what is named reaches the child, so that nothing of this machine decides a test. */
function start(words: readonly string[], surroundings: Surroundings): ReturnType<typeof spawn> {
  const { env = {}, cwd = dirname(PROGRAM), bare = false } = surroundings
  const program = bare ? PROGRAM : installedProgram()
  return spawn(process.execPath, [program, ...words], {
    cwd,
    env: { PATH: `${dirname(program)}${delimiter}${process.env['PATH'] ?? ''}`, ...env },
  })
}

export async function run(words: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const child = start(words, surroundings)
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  child.stdin?.end(surroundings.input ?? '')
  const status = await new Promise<number | null>((done) => child.once('close', done))
  return { status, out: out.text, err: err.text }
}

function collect(stream: NodeJS.ReadableStream | null): { text: string } {
  const collected = { text: '' }
  stream?.setEncoding('utf8')
  stream?.on('data', (chunk: string) => {
    collected.text += chunk
  })
  return collected
}

export function parsed(ended: Ended): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(ended.out)
  assert.ok(typeof value === 'object' && value !== null, ended.out)
  return { ...value }
}

/** The fault that --json writes on the error output. */
export function fault(ended: Ended): { code: unknown; message: unknown; hint: unknown } {
  const value: unknown = JSON.parse(ended.err)
  assert.ok(typeof value === 'object' && value !== null && 'error' in value)
  const error = value.error
  assert.ok(typeof error === 'object' && error !== null && 'code' in error && 'message' in error && 'hint' in error)
  return error
}

export async function lockstepOn(
  t: TestContext,
  options: { migrated?: boolean } = {},
): Promise<(...words: string[]) => Promise<Ended>> {
  const { connectionString } = await createTestDatabase(t, options)
  return (...words) => run(words, { env: { DATABASE_URL: connectionString } })
}

/** Starts a program that serves and resolves with its ready line; the test ends it by a signal. */
export async function ready(
  t: TestContext,
  words: readonly string[],
  surroundings: Surroundings,
): Promise<{ address: string; stop: () => Promise<Ended>; ended: Promise<Ended> }> {
  const child = start([...words, '--json'], surroundings)
  const [out, err] = [collect(child.stdout), collect(child.stderr)]
  const closed = new Promise<number | null>((done) => child.once('close', done))
  t.after(() => child.kill('SIGKILL'))
  await Promise.race([new Promise((done) => child.stdout?.once('data', done)), closed])
  const line: unknown = JSON.parse(out.text === '' ? err.text : out.text)
  assert.ok(
    typeof line === 'object' && line !== null && 'address' in line && typeof line.address === 'string',
    err.text,
  )
  const ended = closed.then((status) => ({ status, out: out.text, err: err.text }))
  const stop = async (): Promise<Ended> => {
    child.kill('SIGTERM')
    return ended
  }
  return { address: line.address, stop, ended }
}

export async function blockedPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  await new Promise((done) => server.close(done))
  return address.port
}
