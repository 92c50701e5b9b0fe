// Repeats a call in process by the same policy as over HTTP: what was certainly not done may come again, what is unknown
// only when its ids make a repeat harmless.
import { setTimeout as sleep } from 'node:timers/promises'
import { LockstepError } from '../../protocol/errors.ts'
import { pauseBefore } from '../retry-pause.ts'

/** Runs a call of the client's, by this policy. */
export type Repeatedly = <T>(repeatable: boolean, work: () => Promise<T>) => Promise<T>

const FULL = { status: 429, retryAfter: null }

export async function repeated<T>(repeatable: boolean, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof LockstepError) || error.retry === 'never') throw error
      const answered = error.code === 'overloaded' ? FULL : null
      const pauseMs = pauseBefore(attempt + 1, error, answered, { repeatable, parked: false })
      if (pauseMs === null) throw error
      await sleep(pauseMs)
    }
  }
}
