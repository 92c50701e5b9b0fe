// Moves one dead letter back into the log: a copy with the transaction id `dlq:<id>` and the removal of the row, one commit.
import type { Executor } from '../db/executor.ts'
import type { Redriven, RedriveResult } from '../protocol/dead-letter.ts'

const REDRIVE = 'select * from lockstep.redrive_dead_letter($1::uuid, $2, $3)'
const RESULTS: readonly RedriveResult[] = ['moved', 'duplicate', 'gone', 'queue_not_found', 'queue_full']

export interface RedriveTarget {
  /** Null or absent: where it came from. */
  readonly queue?: string | null
  readonly partition?: string | null
}

export async function redriveDeadLetter(db: Executor, id: string, target: RedriveTarget = {}): Promise<Redriven> {
  const [row] = await db.rows(REDRIVE, [id, target.queue ?? null, target.partition ?? null])
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
