// Removes limits of actions that are at rest: there is one per key, and keys come and go.
import type { Job } from './job.ts'

const PER_STEP = 500

export function removeLimits(): Job {
  return {
    name: 'remove_limits',
    pauseMs: 600_000,
    async step(db) {
      const [row] = await db.rows('select lockstep.remove_limits($1)', [PER_STEP.toString()])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done === PER_STEP }
    },
  }
}
