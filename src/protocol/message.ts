// What travels: pushed items, delivered messages, acks and their answers, as plain data. Payloads are JSON text and stay text.

/** One item of a push. `payload` is the JSON text exactly as it came; `transactionId` null means "the minted message id". */
export interface PushItem {
  readonly queue: string
  readonly partition: string
  readonly transactionId: string | null
  readonly payload: string
  readonly traceId: string | null
  readonly producerSub: string | null
  /** UUIDv7 minted by the caller; it becomes the message id. */
  readonly messageId: string
}

export type PushStatus = 'queued' | 'duplicate' | 'error'

/** The answer to one item. `offset` is null for a staged push. A duplicate carries the id of the first message. */
export interface PushResult {
  readonly status: PushStatus
  readonly messageId: string
  readonly transactionId: string
  readonly offset: number | null
  /** True when the id was known with another payload; nothing was stored. */
  readonly conflict: boolean
  /** Why, when status is 'error': 'queue_full'. */
  readonly error: string | null
}

/** A message as delivered. `payload` is JSON text. Instants are ISO-8601 UTC text with microseconds. */
export interface Delivery {
  readonly id: string
  readonly transactionId: string
  readonly traceId: string | null
  readonly payload: string
  readonly producerSub: string | null
  readonly createdAt: string
  readonly queue: string
  /** Opaque decimal text: the queue's id followed by twelve digits of the partition's id. */
  readonly partitionId: string
  readonly partition: string
  readonly leaseId: string
  readonly consumerGroup: string
  readonly deliveryAttempt: number
  readonly offset: number
}

export type AckStatus = 'completed' | 'failed' | 'retry' | 'dlq'

/** One acknowledgement. The message is named by offset or by transaction id; without a lease it is not fenced. */
export interface AckItem {
  readonly partitionId: string
  readonly transactionId: string | null
  readonly offset: number | null
  readonly status: AckStatus
  readonly error: string | null
  readonly leaseId: string | null
  readonly group: string
}

export interface AckResult {
  readonly success: boolean
  readonly error: string | null
  readonly leaseReleased: boolean
  readonly dlq: boolean
  readonly noop: boolean
  /** Of a group that conflates: how many older messages the completed one stood for. */
  readonly conflated?: number
}

/** The group of pops that name none. */
export const QUEUE_MODE = '__QUEUE_MODE__'
/** The partition of pushes that name none. */
export const DEFAULT_PARTITION = 'Default'
