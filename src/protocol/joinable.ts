// What an adapter makes of a library's open transaction for `in(tx)`. The mark is a registered symbol, so that an adapter and
// a client which a bundler has put into two copies of this package still know each other.
import type { Door } from './completion.ts'
import { LockstepError } from './errors.ts'

export const JOINS: unique symbol = Symbol.for('lockstep.joins')

export interface Joins {
  readonly library: string
  readonly door: Door
  /** Throws `not_a_transaction` when it has ended, as far as the library tells. Sends nothing. */
  readonly check: () => void
}

/** An open transaction of a library, as its adapter hands it to `in(tx)`. */
export interface Joinable {
  readonly [JOINS]: Joins
}

export function joinsOf(tx: unknown): Joins | null {
  return isJoinable(tx) ? tx[JOINS] : null
}

function isJoinable(tx: unknown): tx is Joinable {
  return typeof tx === 'object' && tx !== null && JOINS in tx
}

/** Checks at once, so that the wrong object is refused where it was handed over. */
export function joinable(joins: Joins): Joinable {
  joins.check()
  return { [JOINS]: joins }
}

export function refuseTransaction(message: string): never {
  throw new LockstepError('not_a_transaction', message)
}
