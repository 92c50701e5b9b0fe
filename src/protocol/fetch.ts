// Reads by offset: what is asked for, and what comes back. They take no lease, move no cursor and no group notices them.

export interface FetchEntry {
  readonly queue: string
  readonly partition: string
  /** Of the first message wanted. */
  readonly offset: number
  readonly maxBytes: number
}

export interface FetchRequest {
  readonly entries: readonly FetchEntry[]
  /** Of all entries together. */
  readonly maxBytes: number
  /** How long to wait for `minBytes` of payloads. */
  readonly maxWaitMs: number
  readonly minBytes: number
}

export interface FetchedRecord {
  readonly offset: number
  readonly transactionId: string
  /** As it was pushed. */
  readonly payload: string
  readonly createdAt: string
}

export type FetchFault = 'OFFSET_OUT_OF_RANGE' | 'UNKNOWN_TOPIC_OR_PARTITION'

export interface PartitionBounds {
  /** The next offset that the partition gives. */
  readonly highWatermark: number
  /** The oldest offset that is kept. */
  readonly logStartOffset: number
}

export interface FetchedEntry extends PartitionBounds {
  readonly records: readonly FetchedRecord[]
  readonly fault: FetchFault | null
}

export interface OffsetEntry {
  readonly queue: string
  readonly partition: string
  readonly timestamp: string
}

export interface FoundOffset extends PartitionBounds {
  readonly offset: number
  /** Of the message there; null past the last one. */
  readonly createdAt: string | null
  readonly fault: FetchFault | null
}

export interface ChangedEntry {
  readonly queue: string
  readonly since: string | null
  /** The cursor of the page before. */
  readonly after: string | null
  readonly limit: number
}

export interface ChangedPartition {
  readonly name: string
  readonly partitionId: string
  /** -1 when nothing was ever pushed. */
  readonly lastOffset: number
  readonly logStart: number
  readonly lastWriteAt: string
}

export interface ChangedPage {
  readonly partitions: readonly ChangedPartition[]
  /** `after` of the next page; null at the end. */
  readonly next: string | null
  readonly fault: 'UNKNOWN_TOPIC_OR_PARTITION' | 'BAD_CURSOR' | null
}

export interface ChangedAnswer {
  /** Every write before this instant is counted in the answer. */
  readonly safeTime: string
  /** It is only a floor: whose writes are on their way could not be seen. */
  readonly safeTimeDegraded: boolean
  /** As asked for. */
  readonly pages: readonly ChangedPage[]
}

export interface WaitingPartition {
  readonly queue: string
  readonly partition: string
  readonly partitionId: string
  readonly pending: number
  readonly processing: number
  readonly lagSeconds: number | null
}
