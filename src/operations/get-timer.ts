// One pending timer with its payload, or null.
import type { Executor } from '../db/executor.ts'
import type { ReadTimer } from '../protocol/timer.ts'
import { shownTimer } from './timer-row.ts'

const GET = 'select * from lockstep.timer_get($1, $2)'

export async function getTimer(db: Executor, queue: string, key: string): Promise<ReadTimer | null> {
  const [row] = await db.rows(GET, [queue, key])
  return row === undefined ? null : { ...shownTimer(row), payload: row[10] ?? 'null' }
}
