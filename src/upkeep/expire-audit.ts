// Forgets notes of destructive calls when their time is over.
import type { Job } from './job.ts'

const EXPIRE = 'select lockstep.expire_audit()'

export function expireAudit(): Job {
  return {
    name: 'expire_audit',
    pauseMs: 60_000,
    async step(db) {
      const [row] = await db.rows(EXPIRE, [])
      const done = Number(row?.[0] ?? 0)
      return { done, more: done > 0 }
    },
  }
}
