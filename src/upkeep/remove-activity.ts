// Forgets what brokers did after a week.
import type { Job } from './job.ts'

const LIMIT = 1_000

export function removeActivity(): Job {
  return {
    name: 'remove_activity',
    pauseMs: 60_000,
    async step(db) {
      const [row] = await db.rows('select lockstep.remove_activity($1::int)', [String(LIMIT)])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done === LIMIT }
    },
  }
}
