// Walks the keys in order, a chunk at a time, and removes those that expired an hour ago. The walk is spread out: a few
// chunks, then a pause; it goes on where it was and begins anew at the end.
import type { Job } from './job.ts'

const EXPIRE = 'select * from lockstep.expire_kv($1, $2)'
const CHUNKS = 20

export function expireKv(): Job {
  let ns = ''
  let key = ''
  let chunks = 0
  return {
    name: 'expire_kv',
    pauseMs: 10_000,
    async step(db) {
      const [row] = await db.rows(EXPIRE, [ns, key])
      ns = row?.[0] ?? ''
      key = row?.[1] ?? ''
      chunks = (chunks + 1) % CHUNKS
      return { done: Number(row?.[2] ?? 0), more: ns !== '' && chunks !== 0 }
    },
  }
}
