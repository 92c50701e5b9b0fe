// POST /transaction: acks, pushes, kv and timers in one commit. A rollback is an answer with 200; a fault of the request's shape
// comes in the same envelope with 400.
import { createHash } from 'node:crypto'
import { ACK_ITEM } from '../../protocol/ack-request.ts'
import { encodeTransaction } from '../../protocol/answers.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { PUSH_ITEM } from '../../protocol/push-request.ts'
import { RUN_FIELDS } from '../../protocol/run-request.ts'
import { ACK_GROUP, decodeTransaction, TRANSACTION_BODY } from '../../protocol/transaction-request.ts'
import type { StepOperation, TransactionResult } from '../../protocol/transaction.ts'
import { stepAlone } from '../../traffic/step-alone.ts'
import { CARRIED_OPTIONAL, listed } from './body-parts.ts'
import { KV_PARTS } from './kv-parts.ts'
import { bodyText } from './read-body.ts'
import { bodyHash, requestIdOf } from './request-once.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'
import { TIMER_PARTS } from './timer-parts.ts'

async function commit(call: Call): Promise<Answer> {
  let transactionId = mintId()
  try {
    const decoded = decodeTransaction(bodyText(call.body), call.sub)
    const { requestId: ofBody, operations, kv, timers } = decoded
    const requestId = requestIdOf(call, ofBody)
    if (requestId !== null) transactionId = idOfRequest(requestId)
    const bare = call.parts.requireLease ? operations.findIndex(isBareAck) : -1
    if (bare >= 0) return json(encodeTransaction(transactionId, decoded, leaseRequired(bare)))
    if (decoded.runs.length + decoded.demandedLeases.length > 0) {
      const request = requestId === null ? null : { id: requestId, bodyHash: bodyHash(call) }
      return json(await stepAlone(call.parts, request, transactionId, decoded))
    }
    const result = await call.parts.traffic.transaction({
      requestId,
      bodyHash: requestId === null ? null : bodyHash(call),
      operations,
      kv,
      timers,
    })
    if (!result.success && result.reason === 'request_conflict') {
      throw new LockstepError('request_conflict', result.error)
    }
    return json(encodeTransaction(transactionId, decoded, result))
  } catch (error) {
    if (!(error instanceof LockstepError) || error.status >= 429) throw error
    const { code, message, details, status } = error
    const reason = typeof details['reason'] === 'string' ? details['reason'] : code
    return json(JSON.stringify({ transactionId, success: false, reason, code, error: message, results: [] }), status)
  }
}

const isBareAck = (operation: StepOperation): boolean => operation.type === 'ack' && operation.item.leaseId === null

/** The server's own rule, where every queue's is off. */
const leaseRequired = (failedIndex: number): TransactionResult => ({
  success: false,
  reason: 'rejected_ack',
  failedIndex,
  error: 'a lease is required; everything was rolled back',
})

/** The same for every arrival of one request, so that a repeat's answer is the first one in this field too. */
function idOfRequest(requestId: string): string {
  const hex = createHash('sha256').update(requestId).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export const transactionRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/transaction',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Acks, pushes (\`operations\`, up to ${LIMITS.transactionOperations}) key/value operations (\`kv\`, up to ${LIMITS.transactionKvOperations}) and timers (\`timers\`, up to ${LIMITS.timerOperations}) and runs (\`runs\`, up to ${LIMITS.runsPerCall}) in one commit. Judged in the order request id, kv, acks, pushes, runs; the first loser names the reason.`,
    body: [
      {
        at: '',
        fields: {
          operations: listed(true, LIMITS.transactionOperations),
          kv: listed(true, LIMITS.transactionKvOperations),
          timers: listed(true, LIMITS.timerOperations),
          runs: listed(true, LIMITS.runsPerCall),
          ...TRANSACTION_BODY,
        },
      },
      {
        at: 'operations[] with "type":"push", itself or its items[]',
        fields: { ...PUSH_ITEM, payload: CARRIED_OPTIONAL },
      },
      { at: 'operations[] with "type":"ack"', fields: { ...ACK_ITEM, ...ACK_GROUP } },
      ...KV_PARTS.map((part) => ({ ...part, at: part.at.replace('operations', 'kv') })).filter(
        ({ at }) => !at.includes('getPrefix'),
      ),
      ...TIMER_PARTS.map((part) => ({ ...part, at: part.at.replace('operations', 'timers') })),
      { at: 'runs[]', fields: { ...RUN_FIELDS, input: CARRIED_OPTIONAL } },
    ],
    answers: {
      200: '{"transactionId":"…","success":true,"results":[…]} or {"transactionId":"…","success":false,"reason":"kv_precondition|duplicate|rejected_ack|queue_full|run_conflict","error":"…","results":[]}',
      400: '{"transactionId":"…","success":false,"reason":"bad_request|not_available|kv_…|timers_…","error":"…","results":[]}',
      403: 'A timer beyond the horizon.',
      409: 'The request id was used with another body.',
    },
    handle: commit,
  },
]
