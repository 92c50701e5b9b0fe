// Places what users' transactions staged, once a second, for queues that nobody pops and nobody pushes to meanwhile. Whoever
// waits for those queues is told.
import { LIMITS } from '../protocol/limits.ts'
import type { Row } from '../db/executor.ts'
import type { Job } from './job.ts'

const PLACE = 'select * from lockstep.place_staged($1)'

/** `onPlaced` is called after the commit with each queue that got messages. */
export function placeStaged(onPlaced: (queue: string) => void): Job {
  let after = ''
  return {
    name: 'place_staged',
    pauseMs: 1_000,
    async step(db) {
      let row: Row | undefined
      try {
        row = (await db.rows(PLACE, [after]))[0]
      } catch (error) {
        // One queue that cannot be placed must not hold up those behind it: its turn comes again with the next round.
        const [next] = await db.rows('select lockstep.next_staged($1)', [after])
        after = next?.[0] ?? ''
        throw error
      }
      const queue = row?.[0] ?? null
      const placed = Number(row?.[1] ?? 0)
      if (queue === null) {
        after = ''
        return { done: 0, more: false }
      }
      if (placed > 0) onPlaced(queue)
      // A full visit leaves more of the same queue; else the next one, by name.
      if (placed < LIMITS.placedPerVisit) after = queue
      return { done: placed, more: true }
    },
  }
}
