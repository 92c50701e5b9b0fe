// A step without a transaction of the user's: decoded and hashed from the same body that would travel by HTTP, so that
// both ways refuse the same and share their request ids.
import { createHash } from 'node:crypto'
import { LockstepError } from '../../protocol/errors.ts'
import type { TransactionRequest, TransactionResult } from '../../protocol/transaction.ts'
import { decodeTransaction } from '../../protocol/transaction-request.ts'
import { transactionBody } from '../http/bodies.ts'
import type { OutgoingStep, StepAnswer } from '../transport.ts'

const PATH = '/api/v1/transaction'

export function transactionRequest(step: OutgoingStep): TransactionRequest {
  const text = transactionBody(step)
  const bodyHash = createHash('sha256').update(PATH).update('\0').update(text).digest('hex')
  return { ...decodeTransaction({ text, broken: null }, null), bodyHash }
}

export function stepAnswer(result: TransactionResult): StepAnswer {
  if (!result.success && result.reason === 'request_conflict') throw new LockstepError('request_conflict', result.error)
  return result
}
