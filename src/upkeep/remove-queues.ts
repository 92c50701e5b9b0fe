// Removes what deleted queues held, step by step, each a short transaction; several processes share the queues.
import type { Job } from './job.ts'

const REMOVE = 'select lockstep.remove_queue()'

export function removeQueues(): Job {
  return {
    name: 'remove_queues',
    pauseMs: 5_000,
    async step(db) {
      const [row] = await db.rows(REMOVE, [])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done > 0 }
    },
  }
}
