// Deletes the messages that retention cut off, step by step, each a short transaction; several processes share the cuts.
import type { Job } from './job.ts'

const REMOVE = 'select lockstep.remove_cut()'

export function removeCut(): Job {
  return {
    name: 'remove_cut',
    pauseMs: 5_000,
    async step(db) {
      const [row] = await db.rows(REMOVE, [])
      const removed = row?.[0] ?? null
      return { done: Number(removed ?? 0), more: removed !== null }
    },
  }
}
