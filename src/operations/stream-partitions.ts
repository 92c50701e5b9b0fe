// A page of the partitions of which a stream's query remembers something.
import type { Executor } from '../db/executor.ts'
import { formatPartitionId, parsePartitionId } from '../protocol/partition-id.ts'
import type { PartitionsQuery, StatePartition, StatePartitions } from '../protocol/stream.ts'

const PARTITIONS =
  'select queue_id, partition_id, queue_name, partition_name, lockstep.instant_text(updated_at), listed from lockstep.stream_partitions($1::int, $2::int, $3::bigint, $4::bigint, $5::int)'

export async function streamPartitions(db: Executor, query: PartitionsQuery): Promise<StatePartitions> {
  const after = parsePartitionId(query.after)
  const rows = await db.rows(PARTITIONS, [
    String(query.queryId),
    after?.queueId ?? null,
    after?.partitionId ?? null,
    query.untouchedMs === null ? null : String(query.untouchedMs),
    String(query.limit),
  ])
  const seen = rows.map(([queueId, partitionId, queue, partition, updatedAt, listed]) => ({
    listed: listed === 't',
    row: {
      partitionId: formatPartitionId(queueId ?? '', partitionId ?? ''),
      partition: partition ?? '',
      queue: queue ?? '',
      updatedAt: updatedAt ?? '',
    } satisfies StatePartition,
  }))
  return {
    partitions: seen.filter(({ listed }) => listed).map(({ row }) => row),
    next: seen.length === query.limit ? (seen.at(-1)?.row.partitionId ?? null) : null,
  }
}
