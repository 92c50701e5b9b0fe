// The partitions of a stream's source that hold a window which is over, and how long until the next one is.
import type { Executor } from '../db/executor.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'
import type { RipePartitions, RipeQuery } from '../protocol/stream.ts'

const RIPE = 'select queue_id, partition_id, wait_ms from lockstep.stream_ripe($1::int, $2::bigint, $3::int)'

/** Null when no stream is registered under the id. */
export async function streamRipe(db: Executor, query: RipeQuery): Promise<RipePartitions | null> {
  const rows = await db.rows(RIPE, [String(query.queryId), String(query.graceMs), String(query.limit)])
  if (rows.length === 0) return null
  const wait = rows.find(([queueId]) => queueId === null)
  const partitionIds = rows.flatMap(([queueId, partitionId]) =>
    queueId ? [formatPartitionId(queueId, partitionId ?? '')] : [],
  )
  return { partitionIds, nextMs: wait?.[2] ? Number(wait[2]) : null, more: wait === undefined }
}
