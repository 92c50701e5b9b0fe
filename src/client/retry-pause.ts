// The wire's retry policy as a pure decision: how long to wait before the next attempt, or null to give up. 429 and the
// codes that promise "nothing was committed" may always come again; anything less sure only when a repeat is harmless.
import type { ErrorCode, LockstepError } from '../protocol/errors.ts'

export interface Repeat {
  readonly repeatable: boolean
  /** A waiting pop, which 429 never ends. */
  readonly parked: boolean
}

const ATTEMPTS_AFTER_FAULT = 3
const ATTEMPTS_AFTER_429 = 10
const FIRST_429_MS = 500
const LONGEST_429_MS = 30_000

/** Certainly not done, so that sending it again cannot do it twice. */
const NOT_DONE: ReadonlySet<ErrorCode> = new Set(['unavailable', 'busy', 'timeout', 'draining'])

function pauseAfter429(attempt: number, retryAfter: string | null): number {
  const seconds = retryAfter === null ? Number.NaN : Number(retryAfter)
  const base =
    Number.isFinite(seconds) && seconds >= 0
      ? seconds * 1_000
      : Math.min(LONGEST_429_MS, FIRST_429_MS * 2 ** (attempt - 2))
  return base * (0.8 + Math.random() * 0.4)
}

/** `attempt` is the number of the one to come, 2 for the first repeat. `answered` is null when the network failed. */
export function pauseBefore(
  attempt: number,
  fault: LockstepError,
  answered: { readonly status: number; readonly retryAfter: string | null } | null,
  repeat: Repeat,
): number | null {
  // A verdict on a queue, not on the load of the broker: whoever pushes decides what to do.
  if (fault.code === 'queue_full') return null
  if (answered?.status === 429) {
    return repeat.parked || attempt <= ATTEMPTS_AFTER_429 ? pauseAfter429(attempt, answered.retryAfter) : null
  }
  if (answered !== null && (answered.status < 500 || fault.retry === 'never')) return null
  if (!repeat.repeatable && !NOT_DONE.has(fault.code)) return null
  return attempt <= ATTEMPTS_AFTER_FAULT ? 1_000 * (attempt - 1) : null
}
