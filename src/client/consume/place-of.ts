// Names a message in a log line: where it lies and which delivery of it this is. Never its payload.
import type { Delivery } from '../../protocol/message.ts'

export function placeOf(delivery: Delivery): Readonly<Record<string, unknown>> {
  const { queue, partition, offset, transactionId, consumerGroup, deliveryAttempt } = delivery
  return { queue, partition, offset, transactionId, group: consumerGroup, deliveryAttempt }
}
