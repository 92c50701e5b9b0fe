// Starts a real PostgreSQL for development and tests and gives back how to reach and stop it. It listens on 127.0.0.1 only,
// behind a random password; every failure is one sentence, and nothing waits without an end.

import { join, resolve } from 'node:path'
import { makeDatabase } from './ask-server.ts'
import type { AccountName } from './choose-account.ts'
import { type Place, choosePlace } from './choose-place.ts'
import { chooseSettings } from './choose-settings.ts'
import { embeddedError, reasonOf } from './embedded-error.ts'
import { endServer } from './end-server.ts'
import { keepOwner } from './keep-owner.ts'
import { keepPassword } from './keep-password.ts'
import { clusterVersion, makeCluster } from './make-cluster.ts'
import { SUPERUSER } from './superuser.ts'
import { launchServer } from './launch-server.ts'
import { demandPort } from './pick-port.ts'
import { settleLeftover } from './settle-leftover.ts'
import { watchServer } from './watch-server.ts'

export interface StartPostgresOptions {
  /** Folder for data, password and log; made when it is not there. */
  readonly home: string
  /** A port of 127.0.0.1; a free one when left out. */
  readonly port?: number
  /** Created when it is not there; default `lockstep`. */
  readonly database?: string
  /** Folder with bin/, lib/, share/ of a PostgreSQL; default: the npm package of this platform. */
  readonly binaries?: string
  /** Only for tests: data may be lost when the machine stops. */
  readonly fast?: boolean
  /** Further server settings, over those chosen for this machine. */
  readonly settings?: Readonly<Record<string, string>>
  /** As root only: run as nobody without trying a user namespace first. */
  readonly account?: Extract<AccountName, 'nobody'>
  /** How long a start may take in all, crash recovery included; default five minutes. */
  readonly startTimeoutMs?: number
  readonly onProgress?: (line: string) => void
}

export interface RunningPostgres {
  readonly connectionString: string
  readonly port: number
  readonly pid: number
  readonly dataDir: string
  readonly logFile: string
  /** Mode 0600; a path may be shown, its content not. */
  readonly passwordFile: string
  /** As in "18.4". */
  readonly version: string
  /** True when a server left by a killed run was taken over. */
  readonly adopted: boolean
  /** Resolves when the server has gone by itself; never after stop(). */
  readonly gone: Promise<void>
  /** Fast shutdown, then immediate, then by force. Idempotent; resolves when the process is gone. */
  stop(): Promise<void>
}

export async function startPostgres(options: StartPostgresOptions): Promise<RunningPostgres> {
  const say = options.onProgress ?? (() => {})
  if (options.port !== undefined) demandPort(options.port)
  const place = await choosePlace(resolve(options.home), options.binaries ?? null, options.account ?? null, say)
  const giveBack = keepOwner(place.home)
  try {
    return await startOwned(place, options, say, giveBack)
  } catch (error) {
    giveBack()
    throw error
  }
}

async function startOwned(
  place: Place,
  options: StartPostgresOptions,
  say: (line: string) => void,
  giveBack: () => void,
): Promise<RunningPostgres> {
  const data = join(place.home, 'data')
  const logFile = join(place.home, 'postgres.log')
  const fast = options.fast === true
  const database = options.database ?? 'lockstep'

  const made = clusterVersion(data)
  if (made !== null && made !== place.binaries.major) {
    throw embeddedError(
      `The data in ${data} was made by PostgreSQL ${made}; the binaries here are ${place.binaries.version}.`,
      'Name another data folder, or move this one away.',
    )
  }
  const password = keepPassword(place.home, made !== null)
  if (made === null) {
    say(`making a PostgreSQL ${place.binaries.version} data folder in ${data}`)
    await makeCluster(place, data, password, fast)
  }

  const settings = { ...chooseSettings(fast), ...options.settings }
  const port = options.port ?? null
  const left = await settleLeftover({ data, password: password.text, port, settings, say })
  const started =
    left ??
    (await launchServer({
      place,
      data,
      logFile,
      password,
      port,
      settings,
      timeoutMs: options.startTimeoutMs ?? 300_000,
      say,
    }))
  try {
    await makeDatabase(started.port, password.text, database)
  } catch (error) {
    await endServer(started.pid, data)
    throw embeddedError(`The database ${database} cannot be created: ${reasonOf(error)}.`, '', error)
  }

  takeAlong(started.pid)
  const watch = watchServer(started.pid)
  let stopping: Promise<void> | null = null
  return {
    connectionString: `postgres://${SUPERUSER}:${password.text}@127.0.0.1:${started.port}/${encodeURIComponent(database)}`,
    port: started.port,
    pid: started.pid,
    dataDir: data,
    logFile,
    passwordFile: password.file,
    version: place.binaries.version,
    adopted: left !== null,
    gone: watch.gone,
    stop: () => {
      watch.end()
      stopping ??= endServer(started.pid, data).finally(() => {
        running.delete(started.pid)
        giveBack()
      })
      return stopping
    },
  }
}

const running = new Set<number>()

/** When this process ends without stop(), by an uncaught error for one, the server must not outlive it. */
function takeAlong(pid: number): void {
  process.off('exit', endRunning)
  process.once('exit', endRunning)
  running.add(pid)
}

function endRunning(): void {
  for (const pid of running) {
    try {
      process.kill(pid, 'SIGINT')
    } catch {
      // It is gone.
    }
  }
}
