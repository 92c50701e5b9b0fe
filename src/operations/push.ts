// Plain push: many items, of several requests perhaps, in one call. Offsets are given under the partitions' locks.
import type { Executor } from '../db/executor.ts'
import { withSealed } from '../db/vault/seal-items.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { PushItem, PushResult } from '../protocol/message.ts'
import { pushLines } from './push-lines.ts'

const PUSH =
  'select * from lockstep.push_joined($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[])'

/** Stores the items; the answers are aligned with them. One commit for all, each item judged by itself. */
export async function push(db: Executor, items: readonly PushItem[]): Promise<readonly PushResult[]> {
  if (items.length === 0) return []
  const rows = await withSealed(db, items, (sealed) => db.rows(PUSH, pushLines(sealed)))
  const results = new Array<PushResult | undefined>(items.length)
  for (const [ord, status, messageId, offset, conflict] of rows) {
    const at = Number(ord) - 1
    const item = items[at]
    if (item === undefined) continue
    results[at] = {
      status: status === 'queued' || status === 'duplicate' ? status : 'error',
      messageId: messageId ?? item.messageId,
      transactionId: item.transactionId ?? item.messageId,
      offset: offset === null || offset === undefined ? null : Number(offset),
      conflict: conflict === 't',
      error: status === 'queued' || status === 'duplicate' ? null : (status ?? 'unknown'),
    }
  }
  return results.map((result, at) => {
    if (result === undefined) throw new LockstepError('internal', `push answered no row for item ${at}`)
    return result
  })
}
