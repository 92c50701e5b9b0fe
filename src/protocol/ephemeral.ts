// Ephemeral queues as data: messages in one broker's memory, gone with it; only what was configured is kept.
import { LIMITS } from './limits.ts'

export interface EphemeralOptions {
  readonly maxBytes: number
  readonly maxLength: number
  /** Past a bound: refuse the push, or drop the oldest messages. */
  readonly policy: 'reject' | 'dropOldest'
  /** Messages older than this are dropped; 0: never. */
  readonly ttlSeconds: number
  readonly leaseSeconds: number
  /** Redeliveries of one message to one group before it is dropped. */
  readonly retryLimit: number
  /** Lets a waiting pop gather: until `count` messages are there or the oldest is `ms` old. */
  readonly windowBuffer: { readonly ms: number; readonly count: number } | null
}

export const EPHEMERAL_DEFAULTS: EphemeralOptions = {
  maxBytes: LIMITS.ephemeralQueueBytesDefault,
  maxLength: LIMITS.ephemeralLengthDefault,
  policy: 'reject',
  ttlSeconds: 0,
  leaseSeconds: LIMITS.ephemeralLeaseSecondsDefault,
  retryLimit: 3,
  windowBuffer: null,
}

export interface EphemeralPop {
  readonly queue: string
  /** Null: any. */
  readonly partition: string | null
  readonly group: string
  readonly batch: number
  /** 0: no wait. */
  readonly waitMs: number
  /** The messages are done with at delivery: no lease, nothing to ack. */
  readonly commit: boolean
}

export interface EphemeralMessage {
  readonly id: string
  readonly partition: string
  /** JSON text. */
  readonly payload: string
  /** Deliveries to this group, this one included. */
  readonly attempts: number
}

export interface EphemeralAck {
  readonly id: string
  /** undelivered: the answer never went out; of the broker itself, never from outside. */
  readonly status: 'completed' | 'failed' | 'retry' | 'undelivered'
}

/** stale: of an earlier life of the queue or the lease; unknown: no id that was ever given. */
export interface EphemeralAckResult {
  readonly id: string
  readonly outcome: 'acked' | 'redelivered' | 'stale' | 'unknown'
  /** The message had no retry left and is gone. */
  readonly dropped?: true
}

export interface EphemeralGroupDepth {
  readonly group: string
  /** Not delivered yet, or to be delivered again. */
  readonly pending: number
  readonly leased: number
}

export interface EphemeralDepth {
  readonly queue: string
  readonly declared: boolean
  readonly messages: number
  readonly bytes: number
  readonly partitions: number
  /** Dropped by age, by the bounds or after their last retry, since the broker started. */
  readonly dropped: number
  readonly groups: readonly EphemeralGroupDepth[]
  readonly options: EphemeralOptions
}
