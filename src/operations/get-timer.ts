// One pending timer with its payload, or null.
import type { Executor } from '../db/executor.ts'
import { showPayload } from '../db/vault/open-payload.ts'
import type { ReadTimer } from '../protocol/timer.ts'
import { shownTimer } from './timer-row.ts'

const GET = 'select * from lockstep.timer_get($1, $2)'

export async function getTimer(db: Executor, queue: string, key: string): Promise<ReadTimer | null> {
  const [row] = await db.rows(GET, [queue, key])
  if (row === undefined) return null
  const timer = shownTimer(row)
  const { partition, messageId } = timer
  return { ...timer, payload: showPayload(db.vault, { queue, partition, messageId }, row[11] ?? 'null').payload }
}
