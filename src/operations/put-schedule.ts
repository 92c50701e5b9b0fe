// Creates or changes a schedule; the first slot is computed from the database's clock, later ones from the slot before.
import type { Executor } from '../db/executor.ts'
import { checkRhythm, slotsAfter } from '../protocol/next-slots.ts'
import type { ScheduleDefinition } from '../protocol/schedule.ts'

const PUT = 'select lockstep.put_schedule($1, $2, $3, $4::bigint, $5, $6, $7::int, $8, $9, $10::timestamptz)'

export async function putSchedule(
  db: Executor,
  definition: ScheduleDefinition,
): Promise<'created' | 'changed' | 'unchanged'> {
  checkRhythm(definition)
  const [row] = await db.rows(PUT, [
    definition.name,
    definition.cron,
    definition.zone,
    definition.intervalMs === null ? null : String(definition.intervalMs),
    definition.target,
    definition.input,
    String(definition.priority),
    definition.misfire,
    definition.overlap,
    await firstSlot(db, definition),
  ])
  const answer = row?.[0]
  return answer === 'created' || answer === 'changed' ? answer : 'unchanged'
}

/** ISO text of the first slot after the database's now. */
async function firstSlot(
  db: Executor,
  rhythm: Pick<ScheduleDefinition, 'cron' | 'zone' | 'intervalMs'>,
): Promise<string | null> {
  const [now] = await db.rows('select lockstep.instant_text(lockstep.clock())', [])
  return slotsAfter(rhythm, new Date(now?.[0] ?? Number.NaN), 1)[0]?.toISOString() ?? null
}
