// Lists dead letters, newest first, of one queue or of all.
import type { Executor } from '../db/executor.ts'
import { showPayload } from '../db/vault/open-payload.ts'
import type { DeadLetter, DeadLetterFilter } from '../protocol/dead-letter.ts'
import type { Page } from '../protocol/page.ts'
import { LIMITS } from '../protocol/limits.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'

const LIST =
  'select * from lockstep.list_dead_letters($1, $2, $3, $4::timestamptz, $5::timestamptz, $6::int, $7::int, $8::int)'

export interface DeadLetterPage extends Partial<DeadLetterFilter> {
  readonly limit?: number
  readonly offset?: number
}

export async function listDeadLetters(db: Executor, page: DeadLetterPage = {}): Promise<Page<DeadLetter>> {
  const { queue = null, group = null, partition = null, from = null, to = null } = page
  const limit = Math.min(page.limit ?? LIMITS.listLimitDefault, LIMITS.listLimit)
  const params = [queue, group, partition, from, to, String(limit), String(page.offset ?? 0), String(LIMITS.listBytes)]
  const rows = await db.rows(LIST, params)
  const entries = rows.map((row) => ({
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
    ...showPayload(db.vault, { queue: row[5] ?? '', partition: row[6] ?? '', messageId: row[3] ?? '' }, row[13] ?? ''),
    traceId: row[14] ?? null,
    producerSub: row[15] ?? null,
    createdAt: row[16] ?? '',
    failedAt: row[17] ?? '',
  }))
  return { entries, cut: rows[0]?.[18] === 't' }
}
