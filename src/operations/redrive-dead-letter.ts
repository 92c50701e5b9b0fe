// Moves one dead letter back into the log: a copy with the transaction id `dlq:<id>` and the removal of the row, one commit. A sealed
// letter is bound to its place, so its copy is sealed anew for the copy's own, by a process that has the keys.
import type { Executor, Param, Row } from '../db/executor.ts'
import { openPayload } from '../db/vault/open-payload.ts'
import type { Redriven, RedriveResult } from '../protocol/dead-letter.ts'
import { LockstepError } from '../protocol/errors.ts'
import { mintId } from '../protocol/mint-id.ts'

const REDRIVE = 'select * from lockstep.redrive_dead_letter($1::uuid, $2, $3, $4::uuid, $5)'
const RESULTS: readonly RedriveResult[] = ['moved', 'duplicate', 'gone', 'queue_not_found', 'queue_full']

export interface RedriveTarget {
  /** Null or absent: where it came from. */
  readonly queue?: string | null
  readonly partition?: string | null
}

export async function redriveDeadLetter(db: Executor, id: string, target: RedriveTarget = {}): Promise<Redriven> {
  const send = async (copy: readonly Param[]): Promise<Row | undefined> =>
    (await db.rows(REDRIVE, [id, target.queue ?? null, target.partition ?? null, ...copy]))[0]
  let row = await send([null, null])
  if (row?.[0] === 'sealed') row = await send(copyOf(db, row, id))
  return {
    result: RESULTS.find((result) => result === row?.[0]) ?? 'gone',
    queue: row?.[1] ?? '',
    partition: row?.[2] ?? '',
    group: row?.[3] ?? '',
    originalTransactionId: row?.[4] ?? '',
    messageId: row?.[5] ?? null,
    transactionId: row?.[6] ?? null,
  }
}

/** The copy's id and its payload, sealed for where it goes. */
function copyOf({ vault }: Executor, row: Row, id: string): readonly string[] {
  const [, queue, partition, , , , , letterQueue, letterPartition, letterMessageId, sealed] = row
  const from = { queue: letterQueue ?? '', partition: letterPartition ?? '', messageId: letterMessageId ?? '' }
  const payload = openPayload(vault, from, sealed ?? '')
  if (vault === undefined) {
    throw new LockstepError('encryption_required', `queue ${queue ?? ''} is encrypted, and this process has no keys`)
  }
  const messageId = mintId()
  const to = { queue: queue ?? '', partition: partition ?? '', messageId, transactionId: `dlq:${id}`, payload }
  return [messageId, vault.seal(to)]
}
