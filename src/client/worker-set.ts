// The workers of one client: made at once, started when told to, and all stopped when the client closes.
import { milliseconds } from '../workflow/define/policy.ts'
import type { RunningWorker, Worker, WorkerOptions, WorkerStatus } from '../workflow/define/worker.ts'

export interface WorkerSet {
  readonly make: (options: WorkerOptions) => Worker
  stop(drainMs: number): Promise<void>
}

const NOT_RUNNING: WorkerStatus = {
  state: 'stopped',
  running: 0,
  waiting: 0,
  healthy: false,
  lastError: null,
  loopLagMs: 0,
}

/** Absent in a browser, where there are no workers either. */
function onSignals(stop: () => Promise<void>): () => void {
  const end = (): void => void stop().then(() => process.exit(0))
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  return () => {
    process.off('SIGTERM', end)
    process.off('SIGINT', end)
  }
}

export function workerSet(work: (options: WorkerOptions) => Promise<RunningWorker>): WorkerSet {
  const running = new Set<Worker>()

  function make(options: WorkerOptions): Worker {
    let started: Promise<RunningWorker> | null = null
    let current: RunningWorker | null = null
    let forget: () => void = () => {}
    const worker: Worker = {
      async start() {
        if (started === null) {
          started = work(options)
          started.catch(() => {
            started = null
          })
        }
        const begun = await started
        if (current === begun) return
        current = begun
        running.add(worker)
        if (options.exitOnSignal === true) forget = onSignals(worker.stop)
      },
      async stop({ drain } = {}) {
        const begun = await started?.catch(() => null)
        forget()
        await begun?.stop(drain === undefined ? undefined : milliseconds(drain, 'drain'))
        running.delete(worker)
        started = null
      },
      status: () => current?.status() ?? NOT_RUNNING,
      [Symbol.asyncDispose]: async () => worker.stop(),
    }
    return worker
  }

  return {
    make,
    async stop(drainMs) {
      await Promise.all([...running].map(async (worker) => worker.stop({ drain: Math.max(1, drainMs) })))
    },
  }
}
