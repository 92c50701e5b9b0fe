// Judges a process by its id: alive, and if so which program with which arguments. An id alone proves nothing, because the
// system gives it again; whoever means to signal one asks here first.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { systemCode } from './embedded-error.ts'

/** False for a process that has ended and only waits to be collected by its parent. */
export function processAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
  return process.platform !== 'linux' || !/^\d+ \(.*\) [ZX]/s.test(readProc(pid, 'stat'))
}

/** The arguments of a living process, or an empty list when they cannot be known. */
export function processArguments(pid: number): string[] {
  if (process.platform === 'linux') return readProc(pid, 'cmdline').split('\0').slice(0, -1)
  return askPs(pid, 'command').split(/\s+/)
}

/** A text that tells this process from a later one with the same id. */
export function processBirth(pid: number): string {
  if (process.platform !== 'linux') return askPs(pid, 'lstart')
  // Field 22, start time in ticks since boot; the name in field 2 may hold spaces and brackets, so count after the last one.
  const stat = readProc(pid, 'stat')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function askPs(pid: number, column: string): string {
  try {
    return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}
