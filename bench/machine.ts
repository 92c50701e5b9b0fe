// What the figures were measured on: processor, cores, memory, how long one durable write takes, versions, commit.
import { execFileSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGib: number
  readonly system: string
  readonly node: string
  readonly fsyncMicroseconds: number
  /** Processes that wanted a core over the minute before: what else ran here. */
  readonly loadBefore: number
  readonly commit: string
  readonly changed: boolean
}

/** `folder` is where PostgreSQL keeps its data: its disk is the one that counts. */
export function describeMachine(root: string, folder: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.version,
    fsyncMicroseconds: fsyncTime(folder),
    loadBefore: loadavg()[0] ?? Number.NaN,
    commit: git(root, ['rev-parse', '--short', 'HEAD']),
    changed: git(root, ['status', '--porcelain', '--', 'src', 'sql', 'bench']) !== '',
  }
}

/** Median of 200 writes of one block, each followed by fdatasync. */
function fsyncTime(folder: string): number {
  const path = join(folder, 'fsync.probe')
  const file = openSync(path, 'w')
  const block = Buffer.alloc(8192, 1)
  const times: number[] = []
  for (let i = 0; i < 200; i += 1) {
    const started = performance.now()
    writeSync(file, block, 0, block.length, (i % 16) * block.length)
    fdatasyncSync(file)
    times.push((performance.now() - started) * 1000)
  }
  closeSync(file)
  rmSync(path)
  return Math.round(times.toSorted((a, b) => a - b)[100] ?? 0)
}

function git(root: string, args: readonly string[]): string {
  try {
    return execFileSync('git', [...args], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return 'unknown'
  }
}

/** Resident memory of a process in bytes; NaN where the system does not tell. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
  } catch {
    return Number.NaN
  }
}

/** Processor seconds that a process and its children have used so far; NaN where the system does not tell. */
export function cpuSeconds(pid: number): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    const live = [String(pid), ...children].filter((one) => one !== '')
    return live.reduce((sum, one) => sum + ownCpuSeconds(one), endedCpuSeconds(pid))
  } catch {
    return Number.NaN
  }
}

function ownCpuSeconds(pid: string): number {
  try {
    // Nanoseconds on a processor; exact, unlike the ticks of `stat`.
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9
  } catch {
    // Ended meanwhile.
    return 0
  }
}

/** Of children that have ended and were waited for; the system counts these in ticks of 10 ms. */
function endedCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[13]) + Number(fields[14])) / 100
}
