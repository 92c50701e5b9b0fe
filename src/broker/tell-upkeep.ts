// What of upkeep the log is told. While PostgreSQL is away every job fails every second: a job that goes on failing is told once,
// again each minute, and once more when it works again. The metrics count every step.
import type { UpkeepReport } from '../upkeep/runner.ts'
import type { Logger } from './logger.ts'

const AGAIN_MS = 60_000

interface Failing {
  failures: number
  toldAt: number
}

/** `now`: monotonic milliseconds; tests move them. */
export function tellUpkeep(logger: Logger, now = (): number => performance.now()): (report: UpkeepReport) => void {
  const failing = new Map<string, Failing>()

  return ({ job, done, error }) => {
    if (job === 'cut_logs' && done > 0) logger.info('retention let messages go', { messages: done })
    const known = failing.get(job)
    if (error === null) {
      if (known === undefined) return
      failing.delete(job)
      logger.info('a job of upkeep works again', { job, failures: known.failures })
      return
    }
    const state = known ?? { failures: 0, toldAt: Number.NEGATIVE_INFINITY }
    failing.set(job, state)
    state.failures += 1
    if (now() - state.toldAt < AGAIN_MS) return
    state.toldAt = now()
    logger.error('a step of upkeep failed', { job, message: messageOf(error), failures: state.failures })
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
