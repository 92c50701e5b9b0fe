// Runs engine-owned work again after a deadlock or a serialization failure, with full jitter and up to a limit. Only work
// that was certainly rolled back comes here: a lost COMMIT is never retried, and a user's transaction never.
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../protocol/limits.ts'
import { isRetryable } from './pg-errors.ts'

/** The work's result; its error unchanged when it is not retryable or the attempts are used up. */
export async function retried<T>(work: () => Promise<T>, attempts: number = LIMITS.conflictAttempts): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt >= attempts || !isRetryable(error)) throw error
      await sleep(Math.random() * Math.min(LIMITS.conflictPauseMs, 5 * 2 ** attempt))
    }
  }
}
