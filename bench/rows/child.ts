// The processes beside the bench: broker, echo server, load generator. Each is started with what it needs, told to end by
// its own id, and none outlives the bench.
import { fork, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { Job, Outcome, Reply } from '../load/job.ts'

export interface Child {
  readonly pid: number
  /** `read` is called when the window begins and when it ends; `used` is the difference. */
  run(job: Job, read: () => readonly number[]): Promise<{ readonly outcome: Outcome; readonly used: readonly number[] }>
  stop(): Promise<void>
}

/** A process that speaks by messages. */
export function startChild(path: string): Child {
  const child = fork(path, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [...profiling()] })
  return {
    pid: child.pid ?? 0,
    run: (job, read) =>
      new Promise((resolve, reject) => {
        let before = read()
        let after = before
        const onExit = (code: number | null): void =>
          reject(new Error(`the load process ended with ${code ?? 'a signal'}`))
        const onReply = (reply: Reply | 'begun' | 'over'): void => {
          if (reply === 'begun') {
            before = read()
            return
          }
          // Connections that end after the window take their processes' figures with them.
          if (reply === 'over') {
            after = read()
            return
          }
          child.off('exit', onExit)
          child.off('message', onReply)
          if (reply.ok) resolve({ outcome: reply.outcome, used: after.map((value, at) => value - (before[at] ?? 0)) })
          else reject(new Error(reply.error))
        }
        child.once('exit', onExit)
        child.on('message', onReply)
        child.send(job)
      }),
    stop: () => ended(child, () => child.disconnect()),
  }
}

export async function startEcho(path: string): Promise<Child & { readonly url: string }> {
  const child = fork(path, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const url = await new Promise<string>((resolve) => child.once('message', (text: string) => resolve(text)))
  return { pid: child.pid ?? 0, url, run: refuse, stop: () => ended(child, () => child.disconnect()) }
}

/** One for the whole run: a name belongs to one key, and the database remembers which. */
const RING = `bench:${randomBytes(32).toString('base64')}`

/** The broker as an operator runs it: `lockstep serve`. It has a key for the queues that are encrypted. */
export async function startBroker(
  command: string,
  connectionString: string,
): Promise<Child & { readonly url: string }> {
  const port = await freePort()
  const child = spawn(process.execPath, [...profiling(), command, 'serve', '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DATABASE_URL: connectionString, LOCKSTEP_ENCRYPTION_KEYS: RING },
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries += 1) {
    if (child.exitCode !== null) throw new Error(`the broker ended with ${child.exitCode} while starting`)
    const health = await fetch(`${url}/health`).catch(() => null)
    if (health?.status === 200) break
    if (tries > 100) throw new Error('the broker did not become healthy in 20 s')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return { pid: child.pid ?? 0, url, run: refuse, stop: () => ended(child, () => child.kill('SIGTERM')) }
}

/** BENCH_CPU_PROF names a folder: a profile of each process is written there when it ends. */
function profiling(): readonly string[] {
  const folder = process.env['BENCH_CPU_PROF']
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('this process runs no loads'))
}

async function ended(child: ChildProcess, ask: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  ask()
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await gone
  clearTimeout(timer)
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
