// For each partition the offset of its first kept message from an instant on.
import type { Executor } from '../db/executor.ts'
import type { FoundOffset, OffsetEntry } from '../protocol/fetch.ts'

const OFFSETS = 'select * from lockstep.offsets_at($1::text[], $2::text[], $3::timestamptz[])'

export async function offsetsAt(db: Executor, entries: readonly OffsetEntry[]): Promise<readonly FoundOffset[]> {
  if (entries.length === 0) return []
  const rows = await db.rows(OFFSETS, [
    entries.map((entry) => entry.queue),
    entries.map((entry) => entry.partition),
    entries.map((entry) => entry.timestamp),
  ])
  return rows.map(([, queueId, at, next, start, createdAt]) => ({
    offset: Number(at),
    highWatermark: Number(next),
    logStartOffset: Number(start),
    createdAt: createdAt ?? null,
    fault: queueId === null ? 'UNKNOWN_TOPIC_OR_PARTITION' : null,
  }))
}
