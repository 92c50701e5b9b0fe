// A row of the comparison: what is done, how it is measured. Types only.
import type { Client } from 'pg'
import type { PeerJob, PeerOutcome } from './peer-job.ts'
import type { Peer } from './peer.ts'

/** `client` is the bench's own, for counting. */
export type Measure = (peer: Peer, job: PeerJob, client: Client) => Promise<PeerOutcome>

export interface Workload {
  readonly name: string
  readonly what: string
  readonly unit: 'jobs/s' | 'workflows/s' | 'ms'
  /** Lockstep must be so many times the best peer; of milliseconds at most so many times. */
  readonly times: number
  readonly measure: Measure
}
