// Dead letters as data: the rows, the filter that names them, and what a redrive came to.

export interface DeadLetter {
  readonly id: string
  readonly messageId: string
  readonly transactionId: string
  readonly partitionId: string
  readonly queue: string
  readonly partition: string
  /** Empty when no group was involved. */
  readonly group: string
  readonly offset: number | null
  /** failed | crashed | forced | conflict */
  readonly cause: string
  readonly error: string
  readonly failures: number
  readonly crashes: number
  /** JSON text; null when it is sealed with a key that is not here. */
  readonly payload: string | null
  /** Whether it is sealed at rest. */
  readonly encrypted: boolean
  readonly traceId: string | null
  readonly producerSub: string | null
  readonly createdAt: string
  readonly failedAt: string
}

/** Null matches all. Instants are ISO-8601 text; `from` is inclusive, `to` is not. */
export interface DeadLetterFilter {
  readonly queue: string | null
  readonly group: string | null
  readonly partition: string | null
  readonly from: string | null
  readonly to: string | null
}

/** For work on many: one queue, and a text the error must hold. */
export interface DeadLetterSelection extends DeadLetterFilter {
  readonly queue: string
  readonly error: string | null
}

/** duplicate, queue_not_found, queue_full: nothing was written, the row stays. gone: there is no such row. */
export type RedriveResult = 'moved' | 'duplicate' | 'gone' | 'queue_not_found' | 'queue_full'

export interface Redriven {
  readonly result: RedriveResult
  readonly queue: string
  readonly partition: string
  readonly group: string
  readonly originalTransactionId: string
  /** Of the copy; a duplicate carries the first copy's id. */
  readonly messageId: string | null
  readonly transactionId: string | null
}
