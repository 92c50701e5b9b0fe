// How a worker is made and what it shows of itself. Types only: what stands behind them runs beside PostgreSQL.
import type { Door } from '../../protocol/completion.ts'
import type { Defined } from './definition.ts'
import type { Duration } from './policy.ts'

export interface BeforeCommit {
  /** The action, or the step of a code workflow. */
  readonly action: string
  readonly runId: string
  readonly node: string
  readonly door: Door
}

/** One attempt of an action, as a job, as a node or called from code. */
export interface AttemptEvent {
  readonly action: string
  readonly runId: string
  readonly node: string
  readonly attempt: number
  /** JSON, as it was submitted. */
  readonly input: string
}

/** lost: nothing of the attempt was committed and no failure was written; the node comes again. */
export type AttemptOutcome =
  | { readonly state: 'completed'; readonly output: string }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'lost' }

/** Called at named places; a Crash thrown there ends that attempt as if the process had died. */
export interface WorkerHooks {
  /** After the handler's own writes in a step's transaction, before its completion. */
  readonly beforeCommit?: ((at: BeforeCommit) => Promise<void>) | undefined
  /** True: this one completes in a transaction of its own also when it wrote nothing, so that beforeCommit sees it. */
  readonly apart?: ((name: string, node: string) => boolean) | undefined
  readonly began?: ((attempt: AttemptEvent) => void) | undefined
  /** After the commit that ended it. */
  readonly ended?: ((attempt: AttemptEvent, outcome: AttemptOutcome) => void) | undefined
}

export interface WorkerOptions {
  /** Actions and workflows; the actions of a graph's nodes are known with it. */
  readonly actions?: readonly Defined[] | undefined
  readonly workflows?: readonly Defined[] | undefined
  /** Handlers at once; default 10. */
  readonly concurrency?: number | undefined
  /** Actions of these queues are run; default ['default']. */
  readonly queues?: readonly string[] | undefined
  /** How long a claim holds without a heartbeat; default '30s'. */
  readonly lease?: Duration | undefined
  /** The longest pause between looks when nothing was heard; default '250ms'. */
  readonly poll?: Duration | undefined
  /** How long handlers at work may take at a stop; then they are handed back. Default '30s'. */
  readonly drain?: Duration | undefined
  /** A process whose event loop stood still for longer lets its leases go; default '60s'. */
  readonly maxStall?: Duration | undefined
  /** At SIGTERM and SIGINT: stop, then exit with 0. Default false. */
  readonly exitOnSignal?: boolean | undefined
  /** For tests. */
  readonly hooks?: WorkerHooks | undefined
}

export interface WorkerStatus {
  readonly state: 'starting' | 'running' | 'stopping' | 'stopped'
  /** Handlers at work, and claimed nodes that wait for one. */
  readonly running: number
  readonly waiting: number
  /** False: the last look at the database failed, or none was made for ten polls. */
  readonly healthy: boolean
  readonly lastError: string | null
  /** How late the event loop was at worst, lately. */
  readonly loopLagMs: number
}

export interface Worker extends AsyncDisposable {
  /** Idempotent; resolves when it looks for work. */
  readonly start: () => Promise<void>
  /** Idempotent: claims no more, lets handlers at work finish, hands back the rest uncounted. */
  readonly stop: (options?: { readonly drain?: Duration | undefined }) => Promise<void>
  readonly status: () => WorkerStatus
}

/** A worker that has started. */
export interface RunningWorker {
  stop(drainMs?: number): Promise<void>
  status(): WorkerStatus
}
