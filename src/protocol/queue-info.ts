// A queue as people see it: names, effective options, counts. Counts are against the slowest group; without a group
// everything that is kept is pending.
import type { QueueOptionName } from './queue-options.ts'

/** The complete effective set, by the names of the wire. */
export type QueueOptionValues = Readonly<Record<QueueOptionName, number | boolean | string>>

export interface QueueInfo {
  readonly queueId: string
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly createdAt: string
  readonly options: QueueOptionValues
}

export interface MessageCounts {
  readonly total: number
  /** Not passed and not leased. */
  readonly pending: number
  readonly processing: number
  readonly completed: number
  readonly deadLetter: number
}

export interface QueueSummary extends QueueInfo {
  readonly partitions: number
  readonly messages: MessageCounts
}

export interface PartitionSummary {
  readonly partitionId: string
  readonly partition: string
  readonly createdAt: string
  readonly messages: MessageCounts
  /** Offset of the first message that the slowest group has not passed. */
  readonly cursor: number
  readonly lastActivity: string | null
  readonly oldestMessage: string | null
  readonly newestMessage: string | null
}

export interface QueueDetail extends QueueSummary {
  /** One page, by name. */
  readonly partitionList: readonly PartitionSummary[]
  /** `after` for the next page; null at the end. */
  readonly nextAfter: string | null
}

export interface QueueDepth {
  readonly queue: string
  readonly group: string
  readonly pending: number
  readonly partitionsPending: number
  /** The group delivers only the newest message of each partition. */
  readonly conflation: boolean
  /** Those with most waiting. */
  readonly partitions: readonly { readonly partition: string; readonly pending: number }[]
}
