// Transaction: steps of key/value operations, acks, pushes and timers, each committed whole or not at all. Independent steps of
// several requests may share one call and one commit; each is judged by itself.
import type { Executor } from '../db/executor.ts'
import { withSealed } from '../db/vault/seal-items.ts'
import { LockstepError } from '../protocol/errors.ts'
import { readTransactionAnswer } from '../protocol/transaction-answer.ts'
import type { TransactionRequest, TransactionResult } from '../protocol/transaction.ts'
import { sealablesOf, withPayloads } from './seal-steps.ts'
import { TRANSACTION_CASTS, transactionLines } from './transaction-lines.ts'

const TRANSACTION = `select * from lockstep.transaction_joined(true, ${TRANSACTION_CASTS.map((cast, at) => `$${at + 1}::${cast}`).join(', ')})`

/**
 * One answer per step. 'deferred': the step touches a key, lane, request id or transaction id that an earlier step of this
 * call touches; nothing of it was done, send it again.
 */
export async function transaction(
  db: Executor,
  steps: readonly TransactionRequest[],
): Promise<readonly (TransactionResult | 'deferred')[]> {
  if (steps.length === 0) return []
  const rows = await withSealed(db, sealablesOf(steps), (sealed) =>
    db.rows(TRANSACTION, transactionLines(withPayloads(steps, sealed))),
  )
  const results = new Map<number, TransactionResult | 'deferred'>()
  for (const [nth, text, replayed] of rows) {
    const at = Number(nth) - 1
    const step = steps[at]
    if (step && text) results.set(at, readTransactionAnswer(text, step, replayed === 't'))
  }
  return steps.map((_, at) => {
    const result = results.get(at)
    if (result === undefined) throw new LockstepError('internal', `the transaction answered no row for step ${at}`)
    return result
  })
}
