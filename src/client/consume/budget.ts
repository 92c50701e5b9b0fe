// How many messages a consumer with a limit may still claim. What is claimed and not finished with goes back into the
// budget, so that a redelivered message does not count twice and no more is leased than will be worked on.

export interface Budget {
  /** Up to `wanted` messages to claim now; 0 while others hold the rest; null when the limit is reached. */
  take(wanted: number): number | null
  /** Returns a claim with what of it was finished. */
  give(taken: number, finished: number): void
  /** Resolves when `take` may answer otherwise. */
  changed(): Promise<void>
  readonly finished: number
}

export function budgetOf(limit: number | null, workers: number): Budget {
  let finished = 0
  let out = 0
  let waiting: (() => void)[] = []
  return {
    take(wanted) {
      if (limit === null) return wanted
      if (finished >= limit) return null
      const free = limit - finished - out
      const taken = Math.min(wanted, free, Math.max(1, Math.ceil((limit - finished) / workers)))
      out += taken
      return taken
    },
    give(taken, done) {
      finished += done
      if (limit !== null) out -= taken
      const wake = waiting
      waiting = []
      for (const resolve of wake) resolve()
    },
    changed: async () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      }),
    get finished() {
      return finished
    },
  }
}
