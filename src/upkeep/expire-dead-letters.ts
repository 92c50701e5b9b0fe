// Removes dead letters of queues that bound how long they are kept, queue after queue.
import type { Job } from './job.ts'

const EXPIRE = 'select * from lockstep.expire_dead_letters($1::int)'

export function expireDeadLetters(): Job {
  let after = '0'
  return {
    name: 'expire_dead_letters',
    pauseMs: 30_000,
    async step(db) {
      const [row] = await db.rows(EXPIRE, [after])
      const queue = row?.[0] ?? null
      const done = Number(row?.[1] ?? 0)
      if (queue === null) {
        after = '0'
        return { done, more: false }
      }
      // The same queue again until nothing is left to remove.
      if (done === 0) after = queue
      return { done, more: true }
    },
  }
}
