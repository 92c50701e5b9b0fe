// The newest dead letter of a message, by the address of the message; null when it has none.
import type { Executor } from '../db/executor.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'

const FIND = 'select lockstep.dead_letter_of($1::int, $2::bigint, $3)'

export async function deadLetterOf(db: Executor, partitionId: string, transactionId: string): Promise<string | null> {
  const key = parsePartitionId(partitionId)
  if (key === null) return null
  const [row] = await db.rows(FIND, [key.queueId, key.partitionId, transactionId])
  return row?.[0] ?? null
}
