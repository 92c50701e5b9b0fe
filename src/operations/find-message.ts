// Finds one message by its address, the newest of that transaction id, with what each group made of it; null when neither
// the log nor the dead letters have it.
import type { Executor } from '../db/executor.ts'
import { showPayload } from '../db/vault/open-payload.ts'
import type { FoundMessage } from '../protocol/found-message.ts'
import { formatPartitionId, parsePartitionId } from '../protocol/partition-id.ts'
import { messageStatus } from './message-status.ts'
import { readOptions } from './read-options.ts'

export async function findMessage(
  db: Executor,
  partitionId: string,
  transactionId: string,
): Promise<FoundMessage | null> {
  const key = parsePartitionId(partitionId)
  if (key === null) return null
  const [row] = await db.rows('select * from lockstep.find_message($1::int, $2::bigint, $3)', [
    key.queueId,
    key.partitionId,
    transactionId,
  ])
  if (row === undefined) return null
  const error = row[16] ?? null
  const place = { queue: row[1] ?? '', partition: row[6] ?? '', messageId: row[8] ?? '' }
  return {
    queue: row[1] ?? '',
    namespace: row[2] ?? '',
    task: row[3] ?? '',
    queueOptions: readOptions(row[4]),
    partitionId: formatPartitionId(row[0] ?? '', row[5] ?? ''),
    partition: row[6] ?? '',
    offset: typeof row[7] === 'string' ? Number(row[7]) : null,
    id: row[8] ?? '',
    transactionId: row[9] ?? '',
    traceId: row[10] ?? null,
    producerSub: row[11] ?? null,
    ...showPayload(db.vault, place, row[12] ?? ''),
    createdAt: row[13] ?? '',
    status: messageStatus(row[14]),
    retryCount: Number(row[15]),
    errorMessage: error,
    consumerGroups: readGroups(row[17] ?? '[]'),
  }
}

function readGroups(text: string): FoundMessage['consumerGroups'] {
  // Written by find_message from names, flags and instants only.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as FoundMessage['consumerGroups']
}
