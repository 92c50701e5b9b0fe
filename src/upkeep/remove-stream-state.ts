// Removes what reset streams remembered, step by step, each a short transaction; several processes share the work.
import type { Job } from './job.ts'

const LIMIT = 1_000

export function removeStreamState(): Job {
  return {
    name: 'remove_stream_state',
    pauseMs: 60_000,
    async step(db) {
      const [row] = await db.rows('select lockstep.remove_stream_state($1::int)', [String(LIMIT)])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done > 0 }
    },
  }
}
