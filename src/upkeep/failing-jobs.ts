// Which steps of upkeep a log is told of. While PostgreSQL is away every job fails every second: one that goes on failing is worth a
// line at first, again each minute, and one more when it works again. The metrics count every step.
import type { UpkeepReport } from './runner.ts'

const AGAIN_MS = 60_000

interface Failing {
  failures: number
  toldAt: number
}

/** How often the job has failed since it last worked, and whether it does so still; null: nothing to tell. */
export type WorthTelling = { readonly failures: number; readonly works: boolean } | null

/** `now`: monotonic milliseconds; tests move them. */
export function createFailingJobs(now = (): number => performance.now()): (report: UpkeepReport) => WorthTelling {
  const failing = new Map<string, Failing>()

  return ({ job, error }) => {
    const known = failing.get(job)
    if (error === null) {
      failing.delete(job)
      return known === undefined ? null : { failures: known.failures, works: true }
    }
    const state = known ?? { failures: 0, toldAt: Number.NEGATIVE_INFINITY }
    failing.set(job, state)
    state.failures += 1
    if (now() - state.toldAt < AGAIN_MS) return null
    state.toldAt = now()
    return { failures: state.failures, works: false }
  }
}
