// Refuses what `in(tx)` cannot join: a pool, a client outside BEGIN, a transaction that has failed, what an adapter knows to
// have ended. Looks only at the object it was handed, sends nothing.
import { LockstepError } from '../protocol/errors.ts'
import { joinsOf, refuseTransaction as refuse } from '../protocol/joinable.ts'

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What `pg` says of its client: I idle, T in a transaction, E in a failed one; null before it has connected. */
function statusOf(tx: object): unknown {
  const ask: unknown = Reflect.get(tx, 'getTransactionStatus')
  if (typeof ask !== 'function') {
    return refuse('in(tx) needs a pg client of version 8.23 or later, which can say whether it is in a transaction')
  }
  return Reflect.apply(ask, tx, [])
}

export function checkOpenTransaction(tx: unknown): void {
  const joins = joinsOf(tx)
  if (joins !== null) return joins.check()
  if (!isObject(tx) || typeof Reflect.get(tx, 'query') !== 'function') {
    return refuse(
      "in(tx) takes an open transaction: a pg client after BEGIN, or another library's through its adapter, as in(drizzleTx(tx))",
    )
  }
  if (typeof Reflect.get(tx, 'totalCount') === 'number') {
    refuse('in(tx) was given a pool, whose statements do not share a transaction: check out a client and BEGIN on it')
  }
  const status = statusOf(tx)
  if (status === 'E') {
    throw new LockstepError('failed_transaction', 'a statement failed before in this transaction; roll it back')
  }
  if (status !== 'T') return refuse('in(tx) was given a client outside of a transaction: BEGIN on it first')
  return undefined
}
