// What the main process asks of the load process, and what a load is: a function that keeps so many requests in flight
// until the tally says that the window is over.
import type { Figures, Tally } from './tally.ts'

export interface Job {
  readonly load: string
  readonly url: string
  readonly connectionString: string
  readonly queue: string
  readonly connections: number
  readonly warmupSeconds: number
  readonly seconds: number
  /** Messages per request. */
  readonly batch: number
  readonly partitions: number
}

export interface Outcome {
  readonly figures: Figures
  /** Processor seconds of the load process per second of the window and its warm-up. */
  readonly cpu: number
}

export type Load = (job: Job, begin: () => Tally) => Promise<Tally>

export type Reply = { readonly ok: true; readonly outcome: Outcome } | { readonly ok: false; readonly error: string }
