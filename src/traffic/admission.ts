// The one gate before the pool: at most as many calls in flight as there are connections, acks first (they free work) but
// nobody for ever last, a bounded line behind it. Past the bound a call is refused at once, so that an overload is an answer and not a pile.
import { LockstepError } from '../protocol/errors.ts'

/** Lower goes first. Health must be seen under load; acks free lanes for the others. */
export const RANK = { health: 0, ack: 1, write: 2, pop: 3, read: 4 } as const
export type Rank = (typeof RANK)[keyof typeof RANK]

export interface Admission {
  /** Runs the work when a place is free; throws `overloaded` when the line is full. */
  enter<T>(rank: Rank, work: () => Promise<T>): Promise<T>
  readonly running: number
  readonly waiting: number
}

const RANKS = Object.keys(RANK).length
/** Every so many places go to the lowest rank that waits, so that a flood of one kind cannot starve the others. */
const FAIR_TURN = 8

export function createAdmission(places: number, line: number): Admission {
  const lines: (() => void)[][] = Array.from({ length: RANKS }, () => [])
  let running = 0
  let waiting = 0
  let turn = 0
  const fromBehind = lines.toReversed()

  function leave(): void {
    turn = (turn + 1) % FAIR_TURN
    for (const waiters of turn === 0 ? fromBehind : lines) {
      const next = waiters.shift()
      if (next) {
        waiting -= 1
        next()
        return
      }
    }
    running -= 1
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      leave()
    }
  }

  return {
    enter<T>(rank: Rank, work: () => Promise<T>): Promise<T> {
      if (running < places) {
        running += 1
        return run(work)
      }
      if (waiting >= line) {
        return Promise.reject(new LockstepError('overloaded', 'too many calls wait for PostgreSQL; come back later'))
      }
      waiting += 1
      return new Promise<void>((resolve) => {
        lines[rank]?.push(resolve)
      }).then(() => run(work))
    },
    get running() {
      return running
    },
    get waiting() {
      return waiting
    },
  }
}
