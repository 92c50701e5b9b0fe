// Refuses options that nobody reads: a misspelt one would be left out without a word.
import { LockstepError } from './errors.ts'

export function onlyKnown(given: object, known: readonly string[], what: string): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue
    throw new LockstepError('bad_request', `${what} has no option '${name}'; it has ${known.join(', ')}`, {
      field: name,
    })
  }
}
