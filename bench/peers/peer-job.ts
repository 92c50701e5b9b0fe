// What the main process asks of a peer's process, and what that answers.
import type { Place } from './peer.ts'

export interface PeerJob extends Place {
  readonly peer: string
  readonly warmupSeconds: number
  readonly seconds: number
}

export interface PeerOutcome {
  /** Jobs or workflows per second; of a latency the number of jobs. */
  readonly rate: number
  /** Of one call, or of the time from commit to start; NaN where neither is measured. */
  readonly p50: number
  readonly p99: number
  readonly errors: readonly string[]
}

export type PeerReply = { readonly outcome: PeerOutcome } | { readonly failure: string }
