// Stage: pushes inside somebody's open transaction. They become messages when it commits; no shared row is touched.
import type { Door } from '../db/executor.ts'
import { arrayLiteral } from '../db/array-literal.ts'
import { withSealedThrough } from '../db/vault/seal-items.ts'
import type { PushItem, PushResult } from '../protocol/message.ts'
import { pushLines } from './push-lines.ts'

const STAGE =
  'select lockstep.stage($1::text::text[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text::text[])::text as r'

const STAGE_ONE = 'select lockstep.stage_one($1, $2, $3, $4, $5)::text as r'

interface Staged {
  readonly status: string
  readonly messageId: string
  readonly conflict: boolean
}

/** The answers are aligned with the items; none has an offset yet. */
export async function stage(door: Door, items: readonly PushItem[]): Promise<readonly PushResult[]> {
  if (items.length === 0) return []
  const text = await withSealedThrough(door, items, (sealed) => sent(door, sealed))
  // The text is written by our own SQL function; its shape is its own and tested with it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const rows = JSON.parse(text ?? '[]') as readonly Staged[]
  return items.map((item, at) => {
    const row = rows[at]
    const status = row?.status === 'queued' || row?.status === 'duplicate' ? row.status : 'error'
    return {
      status,
      messageId: row?.messageId ?? item.messageId,
      transactionId: item.transactionId ?? item.messageId,
      offset: null,
      conflict: row?.conflict ?? false,
      error: status === 'error' ? (row?.status ?? 'unknown') : null,
    }
  })
}

/** One item without a trace, as most are, needs no arrays: a user's client parses the statement anew each time. No id of the
 * caller's is an empty one, as a library may not know which type a null has. */
function sent(door: Door, items: readonly PushItem[]): Promise<string | null> {
  const [item] = items
  if (items.length === 1 && item !== undefined && item.traceId === null && item.producerSub === null) {
    return door.text(STAGE_ONE, [item.queue, item.partition, item.transactionId ?? '', item.payload, item.messageId])
  }
  return door.text(STAGE, pushLines(items).map(arrayLiteral))
}
