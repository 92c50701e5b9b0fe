// Whether the failure of a step's COMMIT says for sure that nothing was committed: only PostgreSQL's own word does.
import { isCrash } from '../worker/crash.ts'
import { sqlstateOf } from '../../db/pg-errors.ts'
import { LockstepError } from '../../protocol/errors.ts'

export function certainlyUndone(error: unknown): boolean {
  if (error instanceof LockstepError && error.code === 'outcome_unknown') return false
  if (isCrash(error)) return true
  return sqlstateOf(error) !== null || error instanceof LockstepError
}
