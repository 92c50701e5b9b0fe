// A step inside somebody's open transaction, as its last statement before COMMIT: pushes are staged, acks carry their lease,
// nothing is cleared. In a transaction in which a statement failed it fails too, so a swallowed failure cannot complete.
import { arrayLiteral } from '../db/array-literal.ts'
import type { Door } from '../db/executor.ts'
import { withSealedThrough } from '../db/vault/seal-items.ts'
import { LockstepError } from '../protocol/errors.ts'
import { readTransactionAnswer } from '../protocol/transaction-answer.ts'
import type { TransactionRequest, TransactionResult } from '../protocol/transaction.ts'
import { sealablesOf, withPayloads } from './seal-steps.ts'
import { TRANSACTION_CASTS, transactionLines } from './transaction-lines.ts'

const TRANSACTION_IN = `select result as r from lockstep.transaction_joined(false, ${TRANSACTION_CASTS.map((cast, at) => `$${at + 1}::text::${cast}`).join(', ')})`

/** A loss is returned, not raised: the transaction stays usable and the caller rolls it back. */
export async function transactionIn(door: Door, step: TransactionRequest): Promise<TransactionResult> {
  const text = await withSealedThrough(door, sealablesOf([step]), async (sealed) =>
    door.text(TRANSACTION_IN, transactionLines(withPayloads([step], sealed)).map(arrayLiteral)),
  )
  const answer = text === null ? 'deferred' : readTransactionAnswer(text, step, false)
  if (answer === 'deferred') throw new LockstepError('internal', 'the transaction answered no row')
  return answer
}
