// Reads kept messages of several partitions by offset, in one snapshot: it takes nothing and moves nothing.
import type { Executor, Row } from '../db/executor.ts'
import { openPayload } from '../db/vault/open-payload.ts'
import type { FetchedEntry, FetchedRecord, FetchRequest } from '../protocol/fetch.ts'
import { LIMITS } from '../protocol/limits.ts'

const FETCH =
  'select * from lockstep.fetch_messages($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint, $6::int)'

export async function fetchMessages(db: Executor, request: FetchRequest): Promise<readonly FetchedEntry[]> {
  const { entries } = request
  if (entries.length === 0) return []
  const rows = await db.rows(FETCH, [
    entries.map((entry) => entry.queue),
    entries.map((entry) => entry.partition),
    entries.map((entry) => String(entry.offset)),
    entries.map((entry) => String(Math.min(entry.maxBytes, LIMITS.fetchBytes))),
    String(Math.min(request.maxBytes, LIMITS.fetchBytes)),
    String(LIMITS.fetchRecords),
  ])
  const records: FetchedRecord[][] = entries.map(() => [])
  const heads: Row[] = []
  for (const row of rows) {
    const index = Number(row[0]) - 1
    const entry = entries[index]
    if (row[5] === null || entry === undefined) heads[index] = row
    else records[index]?.push(recordOf(row, entry.queue, entry.partition, db))
  }
  return entries.map(({ offset }, index) => {
    const [, queueId, , next, start] = heads[index] ?? []
    const bounds = { highWatermark: Number(next), logStartOffset: Number(start) }
    if (queueId === null) return { ...bounds, records: [], fault: 'UNKNOWN_TOPIC_OR_PARTITION' }
    const isOut = offset < bounds.logStartOffset || offset > bounds.highWatermark
    return { ...bounds, records: records[index] ?? [], fault: isOut ? 'OFFSET_OUT_OF_RANGE' : null }
  })
}

function recordOf(row: Row, queue: string, partition: string, db: Executor): FetchedRecord {
  const [, , , , , offset, id, transactionId, payload, createdAt] = row
  return {
    offset: Number(offset),
    transactionId: transactionId ?? '',
    payload: openPayload(db.vault, { queue, partition, messageId: id ?? '' }, payload ?? 'null'),
    createdAt: createdAt ?? '',
  }
}
