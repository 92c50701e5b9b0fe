// A page of a queue's pending timers, in byte order of their keys, without payloads.
import type { Executor } from '../db/executor.ts'
import type { ShownTimer } from '../protocol/timer.ts'
import { shownTimer } from './timer-row.ts'

const LIST = 'select * from lockstep.timer_list($1, $2, $3::int)'

export interface TimerPage {
  readonly timers: readonly ShownTimer[]
  /** There are more behind the last one. */
  readonly truncated: boolean
}

export async function listTimers(db: Executor, queue: string, after: string, limit: number): Promise<TimerPage> {
  const rows = await db.rows(LIST, [queue, after, String(limit + 1)])
  return { timers: rows.slice(0, limit).map(shownTimer), truncated: rows.length > limit }
}
