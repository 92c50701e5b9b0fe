// Fires due timers, page by page in the order of their time: each queue's in one commit of its own, and whoever waits for that
// queue is told. Any number of processes may do so at once: a timer that another one holds is passed by and looked at again in
// the next round. Instants in here are the database's words, told back to it as they came.
import type { Executor } from '../db/executor.ts'
import type { Job } from './job.ts'

const DUE = 'select * from lockstep.due_timers($1::timestamptz, $2::timestamptz, $3, $4, $5::int)'
const FIRE = 'select lockstep.fire_timers($1, $2::text[])'
const PER_PAGE = 500
/** A round from the very beginning, for what was committed late: this often. */
const WHOLE_ROUND_MS = 1_000
const PAUSE_MS = 500
const BEGINNING = '-infinity'

type Place = readonly [at: string, queue: string, key: string]

export function fireTimers(onFired: (queue: string) => void): Job {
  let after: Place | null = null
  let floor = BEGINNING
  let wholeRoundAt = Number.NEGATIVE_INFINITY

  async function step(db: Executor): ReturnType<Job['step']> {
    if (after === null && performance.now() - wholeRoundAt >= WHOLE_ROUND_MS) {
      floor = BEGINNING
      wholeRoundAt = performance.now()
    }
    const rows = await db.rows(DUE, [floor, ...(after ?? [BEGINNING, '', '']), String(PER_PAGE)])
    const keys = new Map<string, string[]>()
    let last: Place | null = null
    let clock = floor
    let waitMs: number | null = null
    for (const [queue = null, key = null, at = null, wait = null] of rows) {
      if (queue === null || key === null) {
        clock = at ?? floor
        waitMs = wait === null ? null : Number(wait)
        continue
      }
      last = [at ?? '', queue, key]
      const list = keys.get(queue)
      if (list) list.push(key)
      else keys.set(queue, [key])
    }
    let done = 0
    for (const [queue, own] of keys) {
      const [row] = await db.rows(FIRE, [queue, own])
      const fired = Number(row?.[0] ?? 0)
      if (fired > 0) onFired(queue)
      done += fired
    }
    const more = rows.length > PER_PAGE
    after = more ? last : null
    if (!more) floor = clock
    return { done, more, ...(more || waitMs === null || waitMs >= PAUSE_MS ? {} : { waitMs }) }
  }

  return { name: 'fire_timers', pauseMs: PAUSE_MS, step }
}
