// Ends a server by its process id: fast (open transactions are rolled back, data is flushed), then immediate, then by force.
// Signals only a process that serves the named data folder; returns when it is gone.

import { setTimeout as pause } from 'node:timers/promises'
import { embeddedError, reasonOf, systemCode } from './embedded-error.ts'
import { servesData } from './postmaster-file.ts'

interface Step {
  readonly signal: NodeJS.Signals
  readonly waitMs: number
}

// SIGINT is PostgreSQL's fast shutdown and writes a checkpoint: on a slow disk that takes its time.
const STEPS: readonly Step[] = [
  { signal: 'SIGINT', waitMs: 30_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
]

/** Resolves when no server serves `data` under that id any more. */
export async function endServer(pid: number, data: string, steps: readonly Step[] = STEPS): Promise<void> {
  for (const step of steps) {
    if (!servesData(pid, data)) return
    try {
      process.kill(pid, step.signal)
      // A process that was halted would only see the signal when it is told to go on.
      process.kill(pid, 'SIGCONT')
    } catch (error) {
      if (systemCode(error) === 'ESRCH') return
      throw embeddedError(`The PostgreSQL of ${data} (process ${pid}) cannot be stopped: ${reasonOf(error)}.`)
    }
    if (await waitGone(pid, data, step.waitMs)) return
  }
  throw embeddedError(`The PostgreSQL of ${data} (process ${pid}) does not end, not even by SIGKILL.`)
}

async function waitGone(pid: number, data: string, waitMs: number): Promise<boolean> {
  const until = performance.now() + waitMs
  while (performance.now() < until) {
    if (!servesData(pid, data)) return true
    await pause(20)
  }
  return !servesData(pid, data)
}
