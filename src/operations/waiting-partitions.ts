// The partitions with most waiting before their slowest group, of one queue or of all.
import type { Executor } from '../db/executor.ts'
import type { WaitingPartition } from '../protocol/fetch.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'

export async function waitingPartitions(
  db: Executor,
  queue: string | null,
  limit: number,
): Promise<readonly WaitingPartition[]> {
  const rows = await db.rows('select * from lockstep.waiting_partitions($1, $2::int)', [queue, String(limit)])
  return rows.map(([name, queueId, partitionId, partition, pending, processing, lag]) => ({
    queue: name ?? '',
    partition: partition ?? '',
    partitionId: formatPartitionId(queueId ?? '', partitionId ?? ''),
    pending: Number(pending),
    processing: Number(processing),
    lagSeconds: lag === null || lag === undefined ? null : Number(lag),
  }))
}
