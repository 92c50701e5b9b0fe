// The removals that go from queue to queue, the same one again until nothing is left to remove there, and begin anew at the end.
import type { Job } from './job.ts'

function walk(name: string, statement: string): Job {
  let after = '0'
  return {
    name,
    pauseMs: 30_000,
    async step(db) {
      const [row] = await db.rows(statement, [after])
      const queue = row?.[0] ?? null
      const done = Number(row?.[1] ?? 0)
      if (queue === null) {
        after = '0'
        return { done, more: false }
      }
      if (done === 0) after = queue
      return { done, more: true }
    },
  }
}

/** Each list has a place of its own in the walk. */
export function queueWalks(): readonly Job[] {
  return [
    // Lanes of groups that were deleted or moved by a seek.
    walk('remove_lanes', 'select * from lockstep.remove_lanes($1::int)'),
    // Dead letters of queues that bound how long they are kept.
    walk('expire_dead_letters', 'select * from lockstep.expire_dead_letters($1::int)'),
  ]
}
