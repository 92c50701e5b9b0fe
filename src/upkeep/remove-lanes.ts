// Removes the lanes of groups that were deleted or moved by a seek, queue after queue.
import type { Job } from './job.ts'

const REMOVE = 'select * from lockstep.remove_lanes($1::int)'

export function removeLanes(): Job {
  let after = '0'
  return {
    name: 'remove_lanes',
    pauseMs: 30_000,
    async step(db) {
      const [row] = await db.rows(REMOVE, [after])
      const queue = row?.[0] ?? null
      const done = Number(row?.[1] ?? 0)
      if (queue === null) {
        after = '0'
        return { done, more: false }
      }
      // The same queue again until nothing is left of it.
      if (done === 0) after = queue
      return { done, more: true }
    },
  }
}
