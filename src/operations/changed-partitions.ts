// Which partitions of queues were written from an instant on, page by page, and an instant to ask again from: every write before
// that one is in the answer, also of transactions that were on their way.
import type { Executor } from '../db/executor.ts'
import type { ChangedAnswer, ChangedEntry, ChangedPage, ChangedPartition } from '../protocol/fetch.ts'
import { LIMITS } from '../protocol/limits.ts'
import { formatPartitionId } from '../protocol/partition-id.ts'

const CHANGED =
  'select * from lockstep.changed_partitions($1::text[], $2::timestamptz[], $3::bigint[], $4::int[], $5::int)'
const CURSOR = /^p\|([0-9]{1,18})$/

export async function changedPartitions(db: Executor, entries: readonly ChangedEntry[]): Promise<ChangedAnswer> {
  const asked = entries.filter(({ after }) => after === null || CURSOR.test(after))
  const rows = await db.rows(CHANGED, [
    asked.map((entry) => entry.queue),
    asked.map((entry) => entry.since),
    asked.map((entry) => CURSOR.exec(entry.after ?? '')?.[1] ?? '0'),
    asked.map((entry) => String(entry.limit)),
    String(LIMITS.changedScan),
  ])
  const found = new Map<number, ChangedPartition[]>()
  const pages = new Map<ChangedEntry, ChangedPage>()
  let safeTime = ''
  let safeTimeDegraded = false
  for (const [nth, queueId, partitionId, name, lastOffset, logStart, lastWriteAt, isLast] of rows) {
    const at = Number(nth)
    const entry = asked[at - 1]
    if (entry === undefined) {
      safeTime = lastWriteAt ?? ''
      safeTimeDegraded = isLast === 'f'
    } else if (typeof name === 'string') {
      const partitions = found.get(at) ?? []
      found.set(at, partitions)
      partitions.push({
        name,
        partitionId: formatPartitionId(queueId ?? '', partitionId ?? ''),
        lastOffset: Number(lastOffset),
        logStart: Number(logStart),
        lastWriteAt: lastWriteAt ?? '',
      })
    } else {
      pages.set(entry, {
        partitions: found.get(at) ?? [],
        next: isLast === 't' ? null : `p|${partitionId ?? '0'}`,
        fault: queueId === null ? 'UNKNOWN_TOPIC_OR_PARTITION' : null,
      })
    }
  }
  const refused: ChangedPage = { partitions: [], next: null, fault: 'BAD_CURSOR' }
  return { safeTime, safeTimeDegraded, pages: entries.map((entry) => pages.get(entry) ?? refused) }
}
