// A row of dead letters, in the columns that both reads of them share; a sealed payload is opened where its key is here.
import type { Row } from '../db/executor.ts'
import { showPayload } from '../db/vault/open-payload.ts'
import type { Vault } from '../protocol/vault.ts'
import type { DeadLetter } from '../protocol/dead-letter.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'

export function deadLetterRow(row: Row, vault: Vault | undefined): DeadLetter {
  const place = { queue: row[5] ?? '', partition: row[6] ?? '', messageId: row[3] ?? '' }
  return {
    id: row[1] ?? '',
    transactionId: row[2] ?? '',
    messageId: row[3] ?? '',
    partitionId: formatPartitionId(row[0] ?? '', row[4] ?? ''),
    queue: row[5] ?? '',
    partition: row[6] ?? '',
    group: row[7] ?? '',
    offset: typeof row[8] === 'string' ? Number(row[8]) : null,
    cause: row[9] ?? '',
    error: row[10] ?? '',
    failures: Number(row[11]),
    crashes: Number(row[12]),
    ...showPayload(vault, place, row[13] ?? ''),
    traceId: row[14] ?? null,
    producerSub: row[15] ?? null,
    createdAt: row[16] ?? '',
    failedAt: row[17] ?? '',
  }
}
