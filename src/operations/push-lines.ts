// Flattens pushed items into the parallel arrays of the SQL functions. It sends nothing and judges nothing.
import type { PushItem } from '../protocol/message.ts'

type Column = readonly (string | null)[]

/** queue, partition, transaction id, payload, trace id, producer, message id; one line per item. */
export function pushLines(items: readonly PushItem[]): readonly Column[] {
  return [
    items.map((item) => item.queue),
    items.map((item) => item.partition),
    items.map((item) => item.transactionId),
    items.map((item) => item.payload),
    items.map((item) => item.traceId),
    items.map((item) => item.producerSub),
    items.map((item) => item.messageId),
  ]
}
