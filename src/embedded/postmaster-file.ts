// Reads postmaster.pid, the file in which a running server says who it is, and postmaster.opts, in which the last one said how it was
// started. A killed server leaves both behind, so they are claims to be checked, never a proof.

import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { processAlive, processArguments } from './process-alive.ts'

export interface PostmasterFile {
  readonly pid: number
  readonly port: number
  /** starting, ready, stopping, standby, or empty while the server has not come that far. */
  readonly status: string
}

/** Null when there is no such file or it holds no process id. */
export function readPostmasterFile(data: string): PostmasterFile | null {
  let lines: string[]
  try {
    lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const pid = Number.parseInt(lines[0] ?? '', 10)
  if (!(pid > 1)) return null
  return { pid, port: Number.parseInt(lines[3] ?? '0', 10) || 0, status: (lines[7] ?? '').trim() }
}

/** True when the process of that id is a postgres that serves exactly this data folder. */
export function servesData(pid: number, data: string): boolean {
  if (!processAlive(pid)) return false
  const words = processArguments(pid)
  if (!words.some((word) => basename(word) === 'postgres')) return false
  const folder = words[words.indexOf('-D') + 1]
  return words.includes('-D') && folder !== undefined && resolve(folder) === resolve(data)
}

/** The port of the run before, from the command line that a server leaves in its data; null where there was none. */
export function lastPort(data: string): number | null {
  try {
    const port = /["= ]port=(\d{1,5})\b/.exec(readFileSync(join(data, 'postmaster.opts'), 'utf8'))?.[1]
    return port === undefined ? null : Number(port)
  } catch {
    return null
  }
}
