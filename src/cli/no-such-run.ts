// What to say of a run that is not there.

import { LockstepError } from '../protocol/errors.ts'

export function noSuchRun(id: string): LockstepError {
  return new LockstepError('not_found', `There is no run ${id}, or its transaction is not committed.`, {
    hint: 'lockstep run list',
  })
}
