// How a thrown value is meant: final, to be tried again at once, or after a pause. Judged by class and by name, because two
// copies of this package may be loaded.
import { LockstepError } from '../../protocol/errors.ts'
import type { NodeFailure } from '../../protocol/run.ts'
import { RetryAfter, storedError } from '../define/failures.ts'

type Meaning = Pick<NodeFailure, 'error' | 'retry' | 'retryAfterMs'>

const FINAL: ReadonlySet<string> = new Set(['unserializable', 'payload_too_large', 'step_key_required', 'step_failed'])

function delayOf(error: unknown): number | null {
  if (error instanceof RetryAfter) return error.delayMs
  const delay: unknown = error instanceof Error && error.name === 'RetryAfter' ? Reflect.get(error, 'delayMs') : null
  return typeof delay === 'number' && Number.isSafeInteger(delay) && delay >= 0 ? delay : null
}

export function failureOf(error: unknown): Meaning {
  const permanent = error instanceof Error && error.name === 'PermanentError'
  const final = permanent || (error instanceof LockstepError && FINAL.has(error.code))
  const cause = permanent && error.cause instanceof LockstepError ? error.cause.code : null
  const stored = storedError(error)
  const named = cause === null || stored.code !== 'failed' ? stored : { ...stored, code: cause }
  return { error: JSON.stringify(named), retry: !final, retryAfterMs: delayOf(error) }
}
