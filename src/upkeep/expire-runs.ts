// Fails runs whose deadline has passed. Whoever waits for one finds out by its poll.
import type { Job } from './job.ts'

const PER_STEP = 100

export function expireRuns(): Job {
  return {
    name: 'expire_runs',
    pauseMs: 1_000,
    async step(db) {
      const [row] = await db.rows('select lockstep.expire_runs($1)', [PER_STEP.toString()])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done === PER_STEP }
    },
  }
}
