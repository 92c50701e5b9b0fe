// Schedules with their next slot and what became of the last ones.
import type { Executor } from '../db/executor.ts'
import type { Misfire, Overlap, ShownSchedule, ShownSlot } from '../protocol/schedule.ts'

/** All, or the one of a name. */
export async function listSchedules(db: Executor, name: string | null): Promise<readonly ShownSchedule[]> {
  const rows = await db.rows('select * from lockstep.list_schedules($1)', [name])
  return rows.map((row) => ({
    name: row[0] ?? '',
    cron: row[1] ?? null,
    zone: row[2] ?? 'UTC',
    intervalMs: row[3] === null || row[3] === undefined ? null : Number(row[3]),
    target: row[4] ?? '',
    input: row[5] ?? 'null',
    priority: Number(row[6] ?? 0),
    misfire: misfireOf(row[7]),
    overlap: overlapOf(row[8]),
    paused: row[9] === 't',
    nextAt: row[10] ?? null,
    lastRun: row[11] ?? null,
    // Written by our own SQL function; its shape is its own and tested with it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    lastSlots: JSON.parse(row[12] ?? '[]') as readonly ShownSlot[],
  }))
}

const misfireOf = (text: string | null | undefined): Misfire => (text === 'skip' || text === 'all' ? text : 'once')
const overlapOf = (text: string | null | undefined): Overlap => (text === 'skip' ? 'skip' : 'allow')
