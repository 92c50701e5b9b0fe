// Launches the server process and waits until it answers. Its output goes to a file, it has a process group of its own, and
// a start that fails gives the server's own words; what time or another port heals is tried again.

import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, closeSync, fstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { askServer } from './ask-server.ts'
import type { Place } from './choose-place.ts'
import { embeddedError, reasonOf } from './embedded-error.ts'
import { endServer } from './end-server.ts'
import type { Password } from './keep-password.ts'
import { pickPort } from './pick-port.ts'
import { lastPort, readPostmasterFile } from './postmaster-file.ts'
import { explainLog, readLogFrom } from './read-log.ts'
import { smallEnvironment } from './small-environment.ts'

export interface Launch {
  readonly place: Place
  readonly data: string
  readonly logFile: string
  readonly password: Password
  /** The port that was asked for, or null for any. */
  readonly port: number | null
  readonly settings: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly say: (line: string) => void
}

export interface Started {
  readonly pid: number
  readonly port: number
}

/** Tries again where time or another port heals it: a port taken in the moment between, remains of a killed server. */
export async function launchServer(launch: Launch): Promise<Started> {
  const { place, logFile } = launch
  const until = performance.now() + launch.timeoutMs
  for (let attempt = 1; ; attempt++) {
    const port = await pickPort(launch.port, attempt === 1 ? lastPort(launch.data) : null)
    const outcome = await launchOnce(launch, port, until)
    if ('pid' in outcome) return outcome
    const portTaken = /Address already in use/i.test(outcome.log) && launch.port === null
    const remains = /pre-existing shared memory block|lock file "postmaster.pid" already exists/i.test(outcome.log)
    if (attempt >= 10 || !(portTaken || remains)) {
      throw embeddedError(
        `PostgreSQL ${place.binaries.version} did not start on port ${port}: ${explainLog(outcome.log, place.home)}`,
        `Its log is ${logFile}.`,
      )
    }
    // The children of a killed server end by themselves within moments.
    if (remains) await pause(500)
  }
}

/** What a server is started with; a running one that shows the same needs no restart. */
export function serverArguments(data: string, chosen: Readonly<Record<string, string>>, port: number): string[] {
  const settings = {
    ...chosen,
    listen_addresses: '127.0.0.1',
    // A socket's path may not pass 107 bytes, and the default folder may not be writable.
    unix_socket_directories: '',
    port: String(port),
  }
  return ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

async function launchOnce(launch: Launch, port: number, until: number): Promise<Started | { log: string }> {
  const { place, data, logFile, password, say } = launch
  const log = openLog(logFile)
  // The user whose data this is must be able to write his log again.
  if (place.account.name === 'owner' && place.account.ids !== null) {
    chownSync(logFile, place.account.ids.uid, place.account.ids.gid)
  }
  const [file = '', ...args] = [
    ...place.account.prefix,
    join(place.binaries.root, 'bin', 'postgres'),
    ...serverArguments(data, launch.settings, port),
  ]
  const child = spawn(file, args, {
    cwd: place.home,
    env: smallEnvironment(place.binaries.libraryPath),
    // To a file and not to a pipe: the server must not fail when this process is killed. Its own process group, because
    // Ctrl-C reaches the whole group and would stop PostgreSQL before the broker has drained.
    stdio: ['ignore', log.handle, log.handle],
    detached: true,
    ...place.account.ids,
  })
  closeSync(log.handle)
  child.unref()
  const ended = watchEnd(child)
  let told = performance.now() + 1_000
  while (ended.reason === null) {
    const pid = child.pid
    if (pid === undefined) {
      // It could not be spawned: the error event says why.
      await pause(1)
      continue
    }
    const claim = readPostmasterFile(data)
    if (claim?.pid === pid && claim.status === 'ready') {
      const answer = await askServer(port, password.text)
      if ('data' in answer) return { pid, port }
      if (answer.code === '28P01') {
        await endServer(pid, data)
        throw embeddedError(
          `PostgreSQL in ${data} does not accept the password in ${password.file}.`,
          'That file and the data do not belong together: put the right one back, or move the folder away.',
        )
      }
    }
    if (performance.now() > until) {
      await endServer(pid, data)
      throw embeddedError(
        `PostgreSQL was not ready in time: ${explainLog(readLogFrom(logFile, log.position), place.home)}`,
        `Its log is ${logFile}.`,
      )
    }
    if (performance.now() > told) {
      say(`waiting for PostgreSQL ${claim?.status === 'starting' ? 'to recover from its last run' : 'to start'}`)
      told = performance.now() + 5_000
    }
    await pause(20)
  }
  const words = readLogFrom(logFile, log.position)
  return { log: words.trim() === '' ? `error: ${ended.reason ?? 'it did not start'}` : words }
}

function watchEnd(child: ChildProcess): { reason: string | null } {
  const ended: { reason: string | null } = { reason: null }
  child.once('error', (error) => {
    ended.reason = reasonOf(error)
  })
  child.once('exit', (status, signal) => {
    ended.reason ??= `it ended with ${signal ?? `status ${status ?? 'unknown'}`}`
  })
  return ended
}

/** Ten megabytes of log are kept, and as many of the time before. */
function openLog(file: string): { handle: number; position: number } {
  try {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 10 * 1024 * 1024) {
      rmSync(`${file}.old`, { force: true })
      renameSync(file, `${file}.old`)
    }
    const handle = openSync(file, 'a', 0o600)
    return { handle, position: fstatSync(handle).size }
  } catch (error) {
    throw embeddedError(`PostgreSQL's log ${file} cannot be written: ${reasonOf(error)}.`, '', error)
  }
}
