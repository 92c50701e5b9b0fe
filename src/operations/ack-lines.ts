// Flattens acks into the parallel arrays of the SQL functions. It sends nothing and judges nothing.
import type { AckItem } from '../protocol/message.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'

/** queue id, partition id, group, lease, transaction id, offset, status, error; null when the partition id is none. */
export function ackLine(item: AckItem): readonly (string | null)[] | null {
  const key = parsePartitionId(item.partitionId)
  if (key === null) return null
  return [
    key.queueId,
    key.partitionId,
    item.group,
    item.leaseId,
    item.transactionId,
    item.offset === null ? null : String(item.offset),
    item.status,
    item.error,
  ]
}
