// A step without a transaction of the user's: decoded and hashed from the same body that would travel by HTTP, so that
// both ways refuse the same and share their request ids.
import { createHash } from 'node:crypto'
import { LockstepError } from '../../protocol/errors.ts'
import { mintId } from '../../protocol/mint-id.ts'
import type { TransactionRequest, TransactionResult } from '../../protocol/transaction.ts'
import { decodeTransaction } from '../../protocol/transaction-request.ts'
import { stepAlone, type StepParts } from '../../traffic/step-alone.ts'
import { transactionBody } from '../http/bodies.ts'
import { transactionAnswer } from '../http/transaction-answer.ts'
import type { OutgoingStep, StepAnswer } from '../transport.ts'

const PATH = '/api/v1/transaction'

export function transactionRequest(step: OutgoingStep): TransactionRequest {
  const text = transactionBody(step)
  const bodyHash = createHash('sha256').update(PATH).update('\0').update(text).digest('hex')
  return { ...decodeTransaction({ text, broken: null }, null), bodyHash }
}

export function stepAnswer(result: TransactionResult): StepAnswer {
  if (!result.success && result.reason === 'request_conflict') throw new LockstepError('request_conflict', result.error)
  return result.success ? { ...result, runs: [] } : result
}

async function sendAlone(parts: StepParts, step: OutgoingStep, request: TransactionRequest): Promise<StepAnswer> {
  const { requestId: id, bodyHash } = request
  const once = id === null || bodyHash === null ? null : { id, bodyHash }
  const decoded = { ...request, runs: step.runs, demandedLeases: [] }
  // Remembered under the request id as the wire has it, so that either way may ask again.
  return transactionAnswer(await stepAlone(parts, once, mintId(), decoded), step)
}

export async function sendTransaction(parts: StepParts, step: OutgoingStep): Promise<StepAnswer> {
  const request = transactionRequest(step)
  if (step.runs.length > 0) return sendAlone(parts, step, request)
  return stepAnswer(await parts.traffic.transaction(request))
}
