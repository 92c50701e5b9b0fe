// Reads what a stream's query remembers of one partition.
import type { Executor } from '../db/executor.ts'
import { LIMITS } from '../protocol/limits.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'
import type { StateQuery, StateRow } from '../protocol/stream.ts'

const STATE =
  'select key, value, lockstep.instant_text(updated_at) from lockstep.stream_state($1::int, $2::int, $3::bigint, $4::text[], $5::text, $6::float8, $7::bigint, $8::int)'

/** In byte order of the keys. A partition that is none has no state. */
export async function streamState(db: Executor, query: StateQuery): Promise<readonly StateRow[]> {
  const place = parsePartitionId(query.partitionId)
  if (place === null) return []
  const rows = await db.rows(STATE, [
    String(query.queryId),
    place.queueId,
    place.partitionId,
    query.keys,
    query.prefix,
    query.ripeAt === null ? null : String(query.ripeAt),
    String(LIMITS.streamStateBytes),
    query.limit === null ? null : String(query.limit),
  ])
  return rows.map(([key, value, updatedAt]) => ({ key: key ?? '', value: value ?? 'null', updatedAt: updatedAt ?? '' }))
}
