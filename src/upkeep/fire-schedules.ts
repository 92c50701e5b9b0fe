// Settles the due slots of schedules and starts their runs, each schedule in one commit. Which slots there are is computed here
// from the last slot; whether they are due, who was first and what became of them is the database's word.
import { LockstepError } from '../protocol/errors.ts'
import { mintId } from '../protocol/mint-id.ts'
import { slotsAfter } from '../protocol/next-slots.ts'
import type { Executor, Row } from '../db/executor.ts'
import type { Job } from './job.ts'

const DUE = 'select * from lockstep.due_schedules($1::int)'
const FIRE =
  'select lockstep.fire_schedule($1, $2::timestamptz, $3::timestamptz[], $4::uuid[], $5::timestamptz, $6::bigint)'
const SCHEDULES = 50
/** Missed slots made up for in one commit; further ones in the next step. */
const SLOTS = 500
/** A slot settled later than this was missed. */
const GRACE_MS = 60_000

export function fireSchedules(): Job {
  return {
    name: 'fire_schedules',
    pauseMs: 500,
    async step(db) {
      const due = await db.rows(DUE, [String(SCHEDULES)])
      let done = 0
      let more = due.length === SCHEDULES
      let fault: unknown = null
      for (const row of due) {
        try {
          const fired = await fire(db, row)
          done += fired.runs
          more ||= fired.more
        } catch (error) {
          // One schedule whose target nobody registered must not hold up the others; its slot stays due.
          fault ??= error
        }
      }
      if (fault !== null) throw fault
      return { done, more }
    },
  }
}

async function fire(db: Executor, row: Row): Promise<{ readonly runs: number; readonly more: boolean }> {
  const [name, cron, zone, interval, nextAt, now] = row
  if (!name || !nextAt || !now) throw new LockstepError('internal', 'due_schedules answered no schedule')
  const rhythm = { cron: cron ?? null, zone: zone ?? 'UTC', intervalMs: interval === null ? null : Number(interval) }
  const following = slotsAfter(rhythm, new Date(nextAt), SLOTS)
  const past = following.filter((slot) => slot.getTime() <= Date.parse(now))
  const next = following[past.length] ?? null
  const slots = [nextAt, ...past.map((slot) => slot.toISOString())]
  // More were missed than one commit takes: the last of these becomes the next slot, and is settled in the following step.
  const rest = next === null && past.length === SLOTS ? (slots.pop() ?? null) : null
  const [answer] = await db.rows(FIRE, [
    name,
    nextAt,
    slots,
    slots.map(() => mintId()),
    rest ?? next?.toISOString() ?? null,
    String(GRACE_MS),
  ])
  return { runs: Number(answer?.[0] ?? 0), more: rest !== null }
}
