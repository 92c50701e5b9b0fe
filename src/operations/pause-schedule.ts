// Stops a schedule from firing, or lets it fire again from its first slot after the database's now; false when there is none of
// the name. A rhythm that is changed meanwhile has moved the next slot itself, and then keeps it.
import type { Executor } from '../db/executor.ts'
import { slotsAfter } from '../protocol/next-slots.ts'

const RHYTHM =
  'select s.cron, s.zone, s.interval_ms, lockstep.instant_text(lockstep.clock()) from lockstep.list_schedules($1) s'
const PAUSE = 'select lockstep.pause_schedule($1, $2::boolean, $3::timestamptz)'

export async function pauseSchedule(db: Executor, name: string, paused: boolean): Promise<boolean> {
  const [row] = await db.rows(RHYTHM, [name])
  if (row === undefined) return false
  const [cron, zone, interval, now] = row
  const rhythm = { cron: cron ?? null, zone: zone ?? 'UTC', intervalMs: interval == null ? null : Number(interval) }
  const next = slotsAfter(rhythm, new Date(now ?? Number.NaN), 1)[0]?.toISOString() ?? null
  const [answer] = await db.rows(PAUSE, [name, String(paused), paused ? null : next])
  return answer?.[0] === 't'
}
