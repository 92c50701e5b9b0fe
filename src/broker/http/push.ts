// POST /push: many items, each judged by itself.
import { push } from '../../operations/push.ts'
import { encodePush } from '../../protocol/answers.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { decodePush, PUSH_BODY, PUSH_ITEM } from '../../protocol/push-request.ts'
import type { PushRequest } from '../../protocol/push-request.ts'
import { CARRIED, listed } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { once, requestIdOf } from './request-once.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const CREATED = 201

function handle(call: Call): Promise<Answer> {
  const request = decodePush(bodyText(call.body), call.sub)
  const requestId = requestIdOf(call, request.requestId)
  if (requestId !== null) return pushOnce(call, requestId, request)
  return call.parts.traffic.push(request.items).then((results) => json(encodePush(request, results), CREATED))
}

async function pushOnce(call: Call, requestId: string, request: PushRequest): Promise<Answer> {
  const answer = await once(call, requestId, async (db) => ({
    answer: encodePush(request, await push(db, request.items)),
    commit: true,
  }))
  call.parts.traffic.pushed(request.items)
  return json(answer, CREATED)
}

export const pushRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/push',
    access: 'write-only',
    rank: 'A',
    changes: true,
    about: `Stores up to ${LIMITS.pushItems} messages. Items are judged one by one; the answer has one entry per item, in order.`,
    body: [
      { at: '', fields: { items: listed(false, LIMITS.pushItems), ...PUSH_BODY } },
      { at: 'items[]', fields: { ...PUSH_ITEM, payload: CARRIED } },
    ],
    answers: {
      201: '[{"index":0,"message_id":"…","transaction_id":"…","queueName":"…","status":"queued|duplicate|error","offset":0}]',
      400: 'A field is missing or wrong, or no payload of the request can be carried.',
      409: 'The request id was used with another body.',
    },
    handle,
  },
]
