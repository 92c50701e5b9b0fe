// POST /locks: locks and semaphores. A refusal is an answer with 200 that says who holds it; waiting is the client's polling.
import { locks } from '../../operations/locks.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { encodeLocks } from '../../protocol/lock-answers.ts'
import { decodeLocks, LOCK_FIELDS, LOCK_REQUEST_ID } from '../../protocol/lock-request.ts'
import { listed, operationParts } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { once, requestIdOf } from './request-once.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function many(call: Call): Promise<Answer> {
  const { requestId: ofBody, operations } = decodeLocks(bodyText(call.body))
  const requestId = requestIdOf(call, ofBody)
  if (requestId === null) return json(encodeLocks(operations, await call.parts.traffic.locks(operations)))
  const answer = await once(call, requestId, async (db) => {
    const [results = []] = await locks(db, [operations])
    return { answer: encodeLocks(operations, results), commit: true }
  })
  return json(answer)
}

export const lockRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/locks',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Up to ${LIMITS.lockOperations} operations on different locks, each judged alone. A limit above 1 makes a semaphore. The token rises with every holder and every renewal; \`guard\` is a key/value check for a transaction, which then commits only while the permit is held. A permit is the key/value row \`name#slot\` of namespace queen-locks.`,
    body: [
      { at: '', fields: { operations: listed(false, LIMITS.lockOperations), ...LOCK_REQUEST_ID } },
      ...operationParts('operations[]', LOCK_FIELDS),
    ],
    answers: {
      200: '{"results":[{"index":0,"op":"acquire","name":"…","acquired":true,"slot":0,"token":17,"owner":"…","guard":{"op":"check","ns":"queen-locks","key":"…#0","expect":17,"required":true}}]} or {"acquired":false,"reason":"held|contended","holders":[{"slot":0,"owner":"…"}]}, {"renewed":false,"reason":"lost",…}, {"released":true,"slot":0}, {"held":true,"holders":[…]}',
      400: '{"error":"locks_bad_request","reason":"locks_…","detail":"…"}',
      409: 'The request id was used with another body.',
    },
    handle: many,
  },
]
