// Forgets settled slots of schedules after 30 days.
import type { Job } from './job.ts'

const LIMIT = 1_000

export function removeSlots(): Job {
  return {
    name: 'remove_slots',
    pauseMs: 60_000,
    async step(db) {
      const [row] = await db.rows('select lockstep.remove_slots($1::int)', [String(LIMIT)])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done === LIMIT }
    },
  }
}
