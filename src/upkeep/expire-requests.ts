// Forgets recorded answers after their 24 hours.
import type { Job } from './job.ts'

const EXPIRE = 'select lockstep.expire_requests()'

export function expireRequests(): Job {
  return {
    name: 'expire_requests',
    pauseMs: 30_000,
    async step(db) {
      const [row] = await db.rows(EXPIRE, [])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done > 0 }
    },
  }
}
