// Reads postmaster.pid, the file in which a running server says who it is. A killed server leaves it behind, so it is a
// claim to be checked, never a proof.

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
