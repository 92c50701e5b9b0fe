// One message with what became of it, for look-ups and lists. Payloads are JSON text.
import type { QueueOptionValues } from './queue-info.ts'

export type MessageStatus = 'pending' | 'processing' | 'completed' | 'dead_letter'

export interface ListedMessage {
  readonly id: string
  readonly transactionId: string
  readonly traceId: string | null
  readonly producerSub: string | null
  /** Null when it is sealed with a key that is not here. */
  readonly payload: string | null
  /** Whether it is sealed at rest. */
  readonly encrypted: boolean
  readonly createdAt: string
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly partitionId: string
  readonly partition: string
  /** Null for a message that only its dead letter remembers and that never had one. */
  readonly offset: number | null
  readonly status: MessageStatus
}

export interface FoundMessage extends ListedMessage {
  readonly queueOptions: QueueOptionValues
  readonly retryCount: number
  readonly errorMessage: string | null
  readonly consumerGroups: readonly {
    readonly group: string
    readonly consumed: boolean
    readonly leaseExpiresAt: string | null
  }[]
}

/** Null matches all. */
export interface MessageFilter {
  readonly queue: string | null
  readonly partition: string | null
  readonly namespace: string | null
  readonly task: string | null
  readonly status: MessageStatus | null
  readonly from: string | null
  readonly to: string | null
  readonly limit: number
  readonly skip: number
  /** With one partition: the offset of the last row of the page before. */
  readonly before: number | null
}
