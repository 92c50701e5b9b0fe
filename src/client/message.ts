// A message as a handler holds it. Group and lease stay on it, so that an ack cannot land on another cursor; the payload's
// text stays beside the parsed data, so that numbers past 2^53 are not lost.
import type { Delivery } from '../protocol/message.ts'
import type { TraceInput } from './traces/traces-client.ts'

export interface Message<T> {
  readonly data: T
  /** The payload exactly as it was pushed, as text. */
  readonly text: string
  readonly id: string
  readonly transactionId: string
  readonly queue: string
  readonly partition: string
  readonly partitionId: string
  readonly leaseId: string
  readonly consumerGroup: string
  readonly offset: number
  /** 1 at the first delivery. */
  readonly deliveryAttempt: number
  /** ISO-8601 UTC with microseconds, by the database's clock. */
  readonly createdAt: string
  readonly traceId: string | null
  readonly producerSub: string | null
  /** Aborted when the lease is lost: what the handler does from then on belongs to somebody else. */
  readonly signal: AbortSignal
  /** Notes an event of its way. One that could not be noted is reported to the client's logger and fails nobody. */
  trace(trace: TraceInput): Promise<void>
}

export function messageOf<T>(
  delivery: Delivery,
  data: T,
  signal: AbortSignal,
  trace: (delivery: Delivery, trace: TraceInput) => Promise<void>,
): Message<T> {
  return {
    data,
    text: delivery.payload,
    id: delivery.id,
    transactionId: delivery.transactionId,
    queue: delivery.queue,
    partition: delivery.partition,
    partitionId: delivery.partitionId,
    leaseId: delivery.leaseId,
    consumerGroup: delivery.consumerGroup,
    offset: delivery.offset,
    deliveryAttempt: delivery.deliveryAttempt,
    createdAt: delivery.createdAt,
    traceId: delivery.traceId,
    producerSub: delivery.producerSub,
    signal,
    trace: async (input) => trace(delivery, input),
  }
}
