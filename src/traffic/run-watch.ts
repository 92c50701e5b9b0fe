// One poller for all who wait for runs to end. Each waiter is looked for at a growing pause, all that are due in one read; a
// run that ended in this process, or that another process hinted at, is looked for at once. Waiting holds no connection.
import type { Executor } from '../db/executor.ts'
import { watchRuns } from '../operations/watch-runs.ts'

const FIRST_PAUSE_MS = 8
const LAST_PAUSE_MS = 500
const PER_LOOK = 1_000

interface Waiter {
  readonly runId: string
  readonly resolve: (ended: boolean) => void
  dueAt: number
  pauseMs: number
}

export interface RunWatch {
  /** True when the run has ended; false when the time was over or the signal came. */
  wait(runId: string, timeoutMs: number, signal: AbortSignal | null): Promise<boolean>
  /** These may have ended: look now. */
  ring(runIds: readonly string[]): void
  /** Any may have ended. */
  ringAll(): void
  /** Answers everybody false. */
  close(): void
  readonly waiting: number
}

export function createRunWatch(db: Executor, enter: <T>(work: () => Promise<T>) => Promise<T>): RunWatch {
  const waiters = new Map<string, Set<Waiter>>()
  let waiting = 0
  let timer: NodeJS.Timeout | null = null
  let timerAt = Infinity
  let looking = false
  let closed = false

  function plan(dueAt: number): void {
    if (looking || dueAt >= timerAt) return
    if (timer) clearTimeout(timer)
    timerAt = dueAt
    timer = setTimeout(() => void look(), Math.max(0, dueAt - performance.now()))
  }

  function settle(waiter: Waiter, ended: boolean): void {
    const siblings = waiters.get(waiter.runId)
    if (siblings?.delete(waiter) !== true) return
    if (siblings.size === 0) waiters.delete(waiter.runId)
    waiting -= 1
    waiter.resolve(ended)
  }

  async function look(): Promise<void> {
    timer = null
    timerAt = Infinity
    looking = true
    const now = performance.now() + 1
    const due = [...waiters]
      .filter(([, siblings]) => [...siblings].some((waiter) => waiter.dueAt <= now))
      .slice(0, PER_LOOK)
    const ids = due.map(([runId]) => runId)
    for (const [, siblings] of due) {
      for (const waiter of siblings) {
        waiter.pauseMs = Math.min(LAST_PAUSE_MS, waiter.pauseMs * 1.6)
        waiter.dueAt = now + waiter.pauseMs * (0.9 + Math.random() / 5)
      }
    }
    try {
      const ended = ids.length === 0 ? [] : await enter(() => watchRuns(db, ids))
      for (const at of ended) for (const waiter of waiters.get(ids[at] ?? '') ?? []) settle(waiter, true)
    } catch {
      // The next look is due anyway; whoever waits has a time of his own.
    }
    looking = false
    planNext()
  }

  function planNext(): void {
    let next = Infinity
    for (const siblings of waiters.values()) for (const waiter of siblings) if (waiter.dueAt < next) next = waiter.dueAt
    if (next < Infinity) plan(next)
  }

  return {
    wait(runId, timeoutMs, signal) {
      if (closed || signal?.aborted === true) return Promise.resolve(false)
      return new Promise((resolve) => {
        const late = setTimeout(() => settle(waiter, false), timeoutMs)
        const abort = (): void => settle(waiter, false)
        const waiter: Waiter = {
          runId,
          pauseMs: FIRST_PAUSE_MS,
          dueAt: performance.now() + FIRST_PAUSE_MS,
          resolve: (ended) => {
            clearTimeout(late)
            signal?.removeEventListener('abort', abort)
            resolve(ended)
          },
        }
        signal?.addEventListener('abort', abort, { once: true })
        const siblings = waiters.get(runId)
        if (siblings === undefined) waiters.set(runId, new Set([waiter]))
        else siblings.add(waiter)
        waiting += 1
        plan(waiter.dueAt)
      })
    },

    ring(runIds) {
      if (waiting === 0) return
      const now = performance.now()
      let rung = false
      for (const runId of runIds) {
        for (const waiter of waiters.get(runId) ?? []) {
          waiter.dueAt = now
          rung = true
        }
      }
      if (rung) plan(now)
    },

    ringAll() {
      const now = performance.now()
      for (const siblings of waiters.values()) for (const waiter of siblings) waiter.dueAt = now
      if (waiting > 0) plan(now)
    },

    close() {
      closed = true
      if (timer) clearTimeout(timer)
      for (const siblings of waiters.values()) for (const waiter of siblings) settle(waiter, false)
    },

    get waiting() {
      return waiting
    },
  }
}
