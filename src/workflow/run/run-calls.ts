// What a handle asks of the way it was made by: over HTTP or straight to PostgreSQL. Types only.
import type { MissingReason, OutgoingRun, ShownNode, ShownRun, Submitted } from '../../protocol/run.ts'

export interface RunCalls {
  readonly submit: (runs: readonly OutgoingRun[]) => Promise<Submitted>
  readonly show: (runId: string, xid: string | null) => Promise<ShownRun | { readonly missing: MissingReason }>
  readonly nodes: (runId: string) => Promise<readonly ShownNode[]>
  /** True when it has ended; false when the time was over or the signal came first. The run is known to be there. */
  readonly ended: (runId: string, timeoutMs: number, signal: AbortSignal | null) => Promise<boolean>
  /** The run's state, or 'not_found'. */
  readonly cancel: (runId: string, reason: string | null) => Promise<string>
  readonly retry: (runId: string) => Promise<string>
  readonly signal: (runId: string, name: string, payload: string) => Promise<string>
  /** Workers here and elsewhere look for work now. */
  readonly wake: () => Promise<void>
}
