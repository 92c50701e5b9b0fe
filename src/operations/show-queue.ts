// Shows one queue with a page of its partitions, by name; null when there is none of that name.
import type { Executor, Row } from '../db/executor.ts'
import { LIMITS } from '../protocol/limits.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'
import type { PartitionSummary, QueueDetail } from '../protocol/queue-info.ts'
import { queueSummary } from './queue-summary.ts'

export interface PartitionPage {
  readonly limit?: number
  /** Name of the last partition of the page before. */
  readonly after?: string
}

export async function showQueue(db: Executor, name: string, page: PartitionPage = {}): Promise<QueueDetail | null> {
  const limit = Math.min(page.limit ?? LIMITS.listLimit, LIMITS.listLimit)
  const [row] = await db.rows('select * from lockstep.list_queues($1, $2, $3)', [name, null, null])
  if (row === undefined) return null
  const rows = await db.rows('select * from lockstep.queue_partitions($1, $2, $3::int)', [
    name,
    page.after ?? '',
    String(limit),
  ])
  const partitionList = rows.map(partitionSummary)
  const last = partitionList.at(-1)
  return {
    ...queueSummary(row),
    partitionList,
    nextAfter: partitionList.length < limit ? null : (last?.partition ?? null),
  }
}

function partitionSummary(row: Row): PartitionSummary {
  const [queueId, id, name, createdAt, total, pending, processing, completed, dead, cursor, last, oldest, newest] = row
  return {
    partitionId: formatPartitionId(queueId ?? '', id ?? ''),
    partition: name ?? '',
    createdAt: createdAt ?? '',
    messages: {
      total: Number(total),
      pending: Number(pending),
      processing: Number(processing),
      completed: Number(completed),
      deadLetter: Number(dead),
    },
    cursor: Number(cursor),
    lastActivity: last ?? null,
    oldestMessage: oldest ?? null,
    newestMessage: newest ?? null,
  }
}
