// What every system of the comparison is asked to do, Lockstep included: one interface, so that the workloads cannot favour
// one of them. Types only.
import type { ClientBase } from 'pg'

/** The payload of every job: about 200 bytes of JSON. */
export interface Order {
  readonly orderId: string
  readonly status: string
  readonly amount: number
  readonly note: string
  /** Of the machine's monotonic clock, just before the COMMIT that enqueued it; '' where nobody asks. */
  readonly sentNs: string
}

/** job: one handler that does nothing. write: it inserts one receipt. code, graph: three steps, each doing nothing. */
export type Kind = 'job' | 'write' | 'code' | 'graph'

export interface System {
  enqueue(order: Order): Promise<unknown>
  enqueueMany(kind: Kind, orders: readonly Order[]): Promise<unknown>
  /** In the caller's transaction, which is open on this client. */
  enqueueIn(client: ClientBase, order: Order): Promise<unknown>
  /** Called after the COMMIT of such a transaction. */
  committed(): Promise<unknown>
  /** Starts workers that run at most `concurrency` handlers at a time; `handled` is called by the last step of each. */
  work(kind: Kind, concurrency: number, handled: (order: Order) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

export interface Place {
  readonly connectionString: string
  /** Where the peers are installed. */
  readonly home: string
  /** A peer may be set for the one workload that it is opened for. */
  readonly workload: string
}

export interface Peer {
  readonly name: string
  readonly version: string
  /** How it is set, for the report. */
  readonly settings: string
  /** By workload: what stands in where it has not quite this. */
  readonly nearest: Readonly<Record<string, string>>
  /** Workloads it has nothing for. */
  readonly lacks: readonly string[]
  /** No less than it drains in a second, so that a queue can be filled for the whole window. */
  readonly fillPerSecond: Readonly<Record<Kind, number>>
  /** Counts what is not finished yet: one row, one column. */
  readonly unfinished: string
  /** On an empty database; makes its schema. */
  open(place: Place): Promise<System>
}
