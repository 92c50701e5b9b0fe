// What one group has before it on a queue, in total and for the partitions with most waiting; null without such a queue.
// A group never seen has everything that is kept before it.
import type { Executor } from '../db/executor.ts'
import { LIMITS } from '../protocol/limits.ts'
import { QUEUE_MODE } from '../protocol/message.ts'
import type { QueueDepth } from '../protocol/queue-info.ts'

export async function queueDepth(db: Executor, queue: string, group: string | null): Promise<QueueDepth | null> {
  const name = group ?? QUEUE_MODE
  const rows = await db.rows('select * from lockstep.queue_depth($1, $2, $3::int)', [
    queue,
    name,
    String(LIMITS.listLimit),
  ])
  const total = rows.find(([partition]) => partition === null)
  if (total === undefined) return null
  return {
    queue,
    group: name,
    pending: Number(total[1]),
    partitionsPending: Number(total[2]),
    conflation: total[3] === 't',
    partitions: rows.flatMap(([partition, pending]) =>
      typeof partition === 'string' ? [{ partition, pending: Number(pending) }] : [],
    ),
  }
}
