// What an adapter makes of a library's open transaction for `in(tx)`. The mark is a plain name, so that an adapter and a client
// from two copies of this package, as a bundler makes them, still know each other.
import type { Door } from './completion.ts'
import { LockstepError } from './errors.ts'

export interface Joins {
  readonly library: string
  readonly door: Door
  /** Throws `not_a_transaction` when it has ended, as far as the library tells. Sends nothing. */
  readonly check: () => void
}

/** An open transaction of a library, as its adapter hands it to `in(tx)`. */
export interface Joinable {
  readonly '~lockstep': Joins
}

export function joinsOf(tx: unknown): Joins | null {
  return isJoinable(tx) ? tx['~lockstep'] : null
}

function isJoinable(tx: unknown): tx is Joinable {
  return typeof tx === 'object' && tx !== null && '~lockstep' in tx
}

/** Checks at once, so that the wrong object is refused where it was handed over. */
export function joinable(joins: Joins): Joinable {
  joins.check()
  return { '~lockstep': joins }
}

export function refuseTransaction(message: string): never {
  throw new LockstepError('not_a_transaction', message)
}
