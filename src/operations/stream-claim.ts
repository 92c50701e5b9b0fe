// Leases partitions of a stream's source that its group has read to the end, each with an empty batch.
import type { Executor } from '../db/executor.ts'
import { mintId } from '../protocol/mint-id.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'
import type { ClaimedPartition, ClaimedPartitions, StreamClaim } from '../protocol/stream.ts'

const CLAIM = 'select * from lockstep.stream_claim($1::int, $2::text, $3::int[], $4::bigint[], $5::text, $6::int)'
const STATUSES = ['claimed', 'busy', 'backlog'] as const

/** Null when no stream is registered under the id. */
export async function streamClaim(db: Executor, claim: StreamClaim): Promise<ClaimedPartitions | null> {
  const leaseId = mintId()
  // What is no id at all is asked for as a partition that cannot be, so that every one has its row.
  const places = claim.partitionIds.map((id) => parsePartitionId(id) ?? { queueId: '-1', partitionId: '-1' })
  const rows = await db.rows(CLAIM, [
    String(claim.queryId),
    claim.group,
    places.map((place) => place.queueId),
    places.map((place) => place.partitionId),
    leaseId,
    String(claim.leaseSeconds),
  ])
  if (rows.length < places.length) return null
  const byPlace = new Map(rows.map((row) => [Number(row[0]) - 1, row]))
  const partitions = claim.partitionIds.map((partitionId, at): ClaimedPartition => {
    const [, partition, status, leaseExpiresAt] = byPlace.get(at) ?? []
    return {
      partitionId,
      partition: partition ?? '',
      status: STATUSES.find((each) => each === status) ?? 'missing',
      leaseExpiresAt: leaseExpiresAt ?? null,
    }
  })
  return { leaseId, nowMs: Math.max(0, ...rows.map((row) => Number(row[4]))), partitions }
}
