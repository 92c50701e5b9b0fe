// Removes the dead letters of one message, of all groups; answers how many.
import type { Executor } from '../db/executor.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'

const PURGE = 'select lockstep.purge_message_letters($1::int, $2::bigint, $3)'

export async function purgeMessageLetters(db: Executor, partitionId: string, transactionId: string): Promise<number> {
  const key = parsePartitionId(partitionId)
  if (key === null) return 0
  const [row] = await db.rows(PURGE, [key.queueId, key.partitionId, transactionId])
  return Number(row?.[0] ?? 0)
}
