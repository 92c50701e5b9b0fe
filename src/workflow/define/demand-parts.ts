// What a definition is made of, looked at where it is written: a schema that tells what it checks, and functions where functions are
// due. Without this a wrong part would be met in the middle of a run.
import { LockstepError } from '../../protocol/errors.ts'

function isSchema(given: unknown): boolean {
  return (typeof given === 'object' || typeof given === 'function') && given !== null && '~standard' in given
}

export function demandFunction(given: unknown, what: string): void {
  if (typeof given !== 'function') throw new LockstepError('bad_request', `${what} must be a function`)
}

export function demandSchema(input: unknown, what: string): void {
  if (isSchema(input)) return
  throw new LockstepError('bad_request', `the input of ${what} must be a Standard Schema, such as one of zod`)
}

export function demandCompletion(given: unknown, what: string): void {
  if (given === undefined) return
  const whole = typeof given === 'object' && given !== null && 'transaction' in given && 'door' in given
  if (!whole) {
    throw new LockstepError('bad_request', `completion of ${what} must be one of an adapter, such as drizzleSteps(db)`)
  }
}
