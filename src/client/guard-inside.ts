// The guard of a lock inside a transaction that is open already: holds the permit's row until that ends, or throws so that it is
// rolled back.
import { LockstepError } from '../protocol/errors.ts'
import type { KvResult } from '../protocol/kv.ts'
import { movedByOwner } from './guarded-commit.ts'
import type { Guardian, LockCheck } from './locks/held-lock.ts'
import type { JoinedTransaction } from './transport.ts'

export async function guardInside(joined: JoinedTransaction, lock: Guardian): Promise<void> {
  const guard = { ...lock.guard(), required: false }
  let result = await check(joined, guard)
  if (!result.applied && result.version !== null && movedByOwner(result.reason ?? '', result.value, lock.owner)) {
    // Refused or not, its row is held by now, so its version cannot move again.
    result = await check(joined, { ...guard, expect: result.version })
  }
  if (result.applied) return
  // Said as required, so that a step whose handler swallows the error is not committed either.
  await joined.kv([{ ...guard, required: true }])
  lock.forfeit()
  throw new LockstepError('lock_lost', `the lock '${lock.name}' is lost: roll this transaction back`, {
    lock: lock.name,
  })
}

async function check(
  joined: JoinedTransaction,
  guard: LockCheck,
): Promise<Extract<KvResult, { readonly applied: boolean }>> {
  const answer = await joined.kv([guard])
  const result = answer.ok ? answer.results[0] : undefined
  if (result === undefined || !('applied' in result)) throw new LockstepError('internal', 'a guard has no answer')
  return result
}
