// Lists kept messages, newest first. Pages go by offsets and row counts, never by instants, so that messages of the same
// microsecond are neither repeated nor lost.
import type { Executor } from '../db/executor.ts'
import { showPayload } from '../db/vault/open-payload.ts'
import type { ListedMessage, MessageFilter } from '../protocol/found-message.ts'
import type { Page } from '../protocol/page.ts'
import { LIMITS } from '../protocol/limits.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'
import { messageStatus } from './message-status.ts'

const LIST =
  'select * from lockstep.list_messages($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz, $8::int, $9::int, $10::bigint, $11::int)'

export async function listMessages(db: Executor, filter: Partial<MessageFilter> = {}): Promise<Page<ListedMessage>> {
  const {
    queue = null,
    partition = null,
    namespace = null,
    task = null,
    status = null,
    from = null,
    to = null,
  } = filter
  const limit = String(Math.min(filter.limit ?? LIMITS.listLimitDefault, LIMITS.listLimit))
  const before = filter.before === undefined || filter.before === null ? null : String(filter.before)
  const params = [
    queue,
    partition,
    namespace,
    task,
    status,
    from,
    to,
    limit,
    String(filter.skip ?? 0),
    before,
    String(LIMITS.listBytes),
  ]
  const rows = await db.rows(LIST, params)
  const entries = rows.map((row) => ({
    queue: row[1] ?? '',
    namespace: row[2] ?? '',
    task: row[3] ?? '',
    partitionId: formatPartitionId(row[0] ?? '', row[4] ?? ''),
    partition: row[5] ?? '',
    offset: Number(row[6]),
    id: row[7] ?? '',
    transactionId: row[8] ?? '',
    traceId: row[9] ?? null,
    producerSub: row[10] ?? null,
    ...showPayload(db.vault, { queue: row[1] ?? '', partition: row[5] ?? '', messageId: row[7] ?? '' }, row[11] ?? ''),
    createdAt: row[12] ?? '',
    status: messageStatus(row[13]),
  }))
  return { entries, cut: rows[0]?.[14] === 't' }
}
