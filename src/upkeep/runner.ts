// Runs the upkeep of the database in any number of processes at once, without a leader: each job looks for what is due, does
// one bounded step, and pauses. One call at a time per process; a failed step leaves its work due and is tried after its pause.
import type { Executor } from '../db/executor.ts'
import { boundedRemovals } from './bounded-removals.ts'
import { queueWalks } from './queue-walks.ts'
import { cancelOrphans } from './cancel-orphans.ts'
import { removeRuns } from './remove-runs.ts'
import { cutLogs } from './cut-logs.ts'
import { expireKv } from './expire-kv.ts'
import { fireSchedules } from './fire-schedules.ts'
import { fireTimers } from './fire-timers.ts'
import type { Job } from './job.ts'
import { pause } from '../protocol/pause.ts'
import { placeStaged } from './place-staged.ts'
import { removeCut } from './remove-cut.ts'
import { removeQueues } from './remove-queues.ts'

/** One step of a job, for metrics and the log. */
export interface UpkeepReport {
  readonly job: string
  readonly done: number
  readonly seconds: number
  readonly error: unknown
}

export interface UpkeepOptions {
  readonly db: Executor
  /** A queue got messages that were staged, or were scheduled: ring whoever waits for it, and tell the other processes. */
  readonly onPlaced?: (queue: string) => void
  readonly onReport?: (report: UpkeepReport) => void
  /** For tests: other jobs. */
  readonly jobs?: readonly Job[]
}

interface Planned {
  readonly job: Job
  dueAt: number
}

/** Also when nothing is left to do right now, the loop lets others have the connection. */
const BREATH_MS = 2

export class Upkeep {
  private readonly options: UpkeepOptions
  private running: Promise<void> | null = null
  private stopping = new AbortController()

  constructor(options: UpkeepOptions) {
    this.options = options
  }

  /** Idempotent. The first looks are spread over a second, so that processes started together do not march in step. */
  start(): void {
    if (this.running !== null) return
    this.stopping = new AbortController()
    const jobs = this.options.jobs ?? allJobs(this.options.onPlaced ?? (() => {}))
    const now = performance.now()
    const plan = jobs.map((job) => ({ job, dueAt: now + Math.random() * Math.min(job.pauseMs, 1_000) }))
    this.running = this.loop(plan, this.stopping.signal)
  }

  /** Idempotent; resolves when the step in flight has ended. */
  async stop(): Promise<void> {
    this.stopping.abort()
    await this.running
    this.running = null
  }

  private async loop(plan: readonly Planned[], signal: AbortSignal): Promise<void> {
    for (;;) {
      const next = earliest(plan)
      await pause(next.dueAt - performance.now(), signal)
      if (signal.aborted) return
      const pauseMs = await this.step(next.job)
      next.dueAt = performance.now() + pauseMs
    }
  }

  /** How long to pause before the job's next step. */
  private async step(job: Job): Promise<number> {
    const started = performance.now()
    const report = (done: number, error: unknown): void => {
      this.options.onReport?.({ job: job.name, done, seconds: (performance.now() - started) / 1000, error })
    }
    try {
      const { done, more, waitMs } = await job.step(this.options.db)
      report(done, null)
      if (waitMs !== undefined) return Math.max(BREATH_MS, waitMs)
      if (more) return BREATH_MS
    } catch (error) {
      report(0, error)
    }
    return jittered(job.pauseMs)
  }
}

export function allJobs(onPlaced: (queue: string) => void): readonly Job[] {
  return [
    placeStaged(onPlaced),
    fireTimers(onPlaced),
    fireSchedules(),
    cancelOrphans(),
    removeRuns(),
    expireKv(),
    removeQueues(),
    cutLogs(),
    removeCut(),
    ...boundedRemovals,
    ...queueWalks(),
  ]
}

function earliest(plan: readonly Planned[]): Planned {
  return plan.reduce((a, b) => (b.dueAt < a.dueAt ? b : a))
}

/** Between four fifths and six fifths: many processes drift apart and stay apart. */
function jittered(pauseMs: number): number {
  return pauseMs * (0.8 + Math.random() * 0.4)
}
