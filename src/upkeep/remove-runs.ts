// Walks the runs from old to young, a stretch at a time, and removes those that ended longer ago than their workflow keeps
// them. The walk goes on where it was and begins anew at the end.
import type { Job } from './job.ts'

const PER_STEP = 500
const BEGINNING = '00000000-0000-0000-0000-000000000000'
/** Stretches without anything to remove, after which the walk rests. */
const STRETCHES = 20

export function removeRuns(): Job {
  let after = BEGINNING
  let stretches = 0
  return {
    name: 'remove_runs',
    pauseMs: 60_000,
    async step(db) {
      const [row] = await db.rows('select * from lockstep.remove_runs($1::uuid, $2)', [after, PER_STEP.toString()])
      after = row?.[0] ?? BEGINNING
      const done = Number(row?.[1] ?? 0)
      stretches = done > 0 ? 0 : (stretches + 1) % STRETCHES
      return { done, more: after !== BEGINNING && (done > 0 || stretches !== 0) }
    },
  }
}
