// Changes where a group starts on partitions it has not seen yet; moves no cursor. Answers on how many queues.
import type { Executor } from '../db/executor.ts'

export async function setSubscription(db: Executor, group: string, timestamp: string): Promise<number> {
  const [row] = await db.rows('select lockstep.set_subscription($1, $2::timestamptz)', [group, timestamp])
  return Number(row?.[0] ?? 0)
}
