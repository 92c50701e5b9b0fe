// A pending timer as the SQL functions answer it.
import type { Row } from '../db/executor.ts'
import type { ShownTimer } from '../protocol/timer.ts'

export function shownTimer(row: Row): ShownTimer {
  return {
    key: row[0] ?? '',
    partition: row[1] ?? '',
    deliverAt: row[2] ?? '',
    transactionId: row[3] ?? '',
    messageId: row[4] ?? '',
    producerSub: row[5] ?? null,
    attempts: Number(row[6]),
    lastError: row[7] ?? null,
    createdAt: row[8] ?? '',
    updatedAt: row[9] ?? '',
    encrypted: row[10] === 't',
  }
}
