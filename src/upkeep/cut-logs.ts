// Retention: walks the partitions of queues that bound how long messages are kept and moves the start of their logs. The walk
// goes slowly over partitions that keep everything, so that a queue with very many of them costs next to nothing.
import type { Job } from './job.ts'

const BEGIN = 'select lockstep.begin_retention()'
const CUT = 'select * from lockstep.cut_logs($1::int, $2::bigint)'
const STROLL_MS = 20

export function cutLogs(): Job {
  let queue: string | null = null
  let after = '0'
  return {
    name: 'cut_logs',
    pauseMs: 5_000,
    async step(db) {
      if (queue === null) {
        const [row] = await db.rows(BEGIN, [])
        queue = row?.[0] ?? null
        after = '0'
        return { done: 0, more: queue !== null }
      }
      const walking = queue
      // A walk that fails is given up; the queue's next one begins anew.
      queue = null
      const [row] = await db.rows(CUT, [walking, after])
      const next = row?.[0] ?? null
      const done = Number(row?.[1] ?? 0)
      if (next !== null) {
        queue = walking
        after = next
      }
      return { done, more: true, ...(done === 0 && next !== null ? { waitMs: STROLL_MS } : {}) }
    },
  }
}
