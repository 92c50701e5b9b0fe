// Streams as data: a registered query, what it remembers per partition of its source, and one cycle of its runner.
import type { PushItem, PushResult } from './message.ts'
import type { TransactionResult } from './transaction.ts'

export interface StreamRegistration {
  readonly name: string
  readonly sourceQueue: string
  readonly sinkQueue: string | null
  /** Of the shape of the stream: state made under another one cannot be gone on with. */
  readonly configHash: string
  /** Forget what was remembered under another hash instead of refusing. */
  readonly reset: boolean
}

/** mismatch: the name is registered with another hash, and nothing was changed. */
export interface RegisteredStream {
  readonly queryId: string
  readonly outcome: 'fresh' | 'kept' | 'reset' | 'mismatch'
}

/** Where a state stands: a query's id and a partition's, as the wire carries it. */
export interface StreamPlace {
  readonly queryId: number
  readonly partitionId: string
}

export interface StateQuery extends StreamPlace {
  /** Empty: no filter. */
  readonly keys: readonly string[]
  readonly prefix: string | null
  /** Epoch milliseconds: only values whose numeric `windowEnd` is at or before it. */
  readonly ripeAt: number | null
  /** Rows at most, in byte order of the keys; null: all. */
  readonly limit: number | null
}

export interface StateRow {
  readonly key: string
  /** JSON text. */
  readonly value: string
  readonly updatedAt: string
}

/** A null value deletes the key. */
export interface StateChange {
  readonly key: string
  readonly value: string | null
  readonly windowEnd: number | null
}

export interface StreamAck {
  readonly leaseId: string
  /** retry: the lease is given up and the cursor stays. */
  readonly status: 'completed' | 'retry'
  /** From the head of the batch; what counts when the lease is kept. */
  readonly count: number
}

export interface StreamCycle extends StreamPlace {
  /** Null: `streams.` and the name of the query. */
  readonly group: string | null
  /** No key comes twice. */
  readonly state: readonly StateChange[]
  readonly pushes: readonly PushItem[]
  readonly ack: StreamAck | null
  readonly releaseLease: boolean
}

export type StreamCycleResult =
  | {
      readonly success: true
      /** The source's. */
      readonly queue: string
      readonly pushes: readonly PushResult[]
      readonly ack: { readonly leaseReleased: boolean; readonly dlq: boolean } | null
    }
  | { readonly success: false; readonly reason: StreamLoss; readonly error: string }

export type StreamLoss =
  | 'unknown_query'
  | 'unknown_partition'
  | Extract<TransactionResult, { readonly success: false }>['reason']

export interface StreamClaim {
  readonly queryId: number
  readonly partitionIds: readonly string[]
  /** Null: `streams.` and the name of the query. */
  readonly group: string | null
  readonly leaseSeconds: number
}

/** busy: another holds it; backlog: messages wait for the group, its next pop brings them; missing: no such partition. */
export type ClaimStatus = 'claimed' | 'busy' | 'backlog' | 'missing'

export interface ClaimedPartition {
  readonly partitionId: string
  /** Empty when it is missing. */
  readonly partition: string
  readonly status: ClaimStatus
  readonly leaseExpiresAt: string | null
}

export interface ClaimedPartitions {
  /** Of all that were claimed. */
  readonly leaseId: string
  /** The database's clock, epoch milliseconds: windows close on it. */
  readonly nowMs: number
  readonly partitions: readonly ClaimedPartition[]
}

export interface PartitionsQuery {
  readonly queryId: number
  /** A partition's id; empty: from the first. */
  readonly after: string
  /** Only partitions whose newest state is at least this old. */
  readonly untouchedMs: number | null
  readonly limit: number
}

export interface StatePartition {
  readonly partitionId: string
  readonly partition: string
  readonly queue: string
  readonly updatedAt: string
}

export interface StatePartitions {
  readonly partitions: readonly StatePartition[]
  /** Where to go on; null at the end. */
  readonly next: string | null
}

export interface RipeQuery {
  readonly queryId: number
  /** How long ago a window's end has to be. */
  readonly graceMs: number
  readonly limit: number
}

export interface RipePartitions {
  /** The oldest window first. */
  readonly partitionIds: readonly string[]
  /** Until the next window is over, by the database's clock; null without any, or when the page is full. */
  readonly nextMs: number | null
  /** The page is full: there may be more. */
  readonly more: boolean
}
