// POST /ack and /ack/batch: each item has its own verdict, in request order, always 200.
import { ack } from '../../operations/ack.ts'
import { ACK_BODY, ACK_ITEM, decodeAck, decodeAckBatch } from '../../protocol/ack-request.ts'
import type { AckRequest } from '../../protocol/ack-request.ts'
import { encodeAck } from '../../protocol/answers.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { AckItem } from '../../protocol/message.ts'
import { listed } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { once, requestIdOf } from './request-once.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const one = (call: Call): Promise<Answer> => settle(call, decodeAck(bodyText(call.body)))
const many = (call: Call): Promise<Answer> => settle(call, decodeAckBatch(bodyText(call.body)))

function settle(call: Call, decoded: AckRequest): Promise<Answer> {
  const request = call.parts.requireLease ? demandLeases(decoded) : decoded
  const requestId = requestIdOf(call, request.requestId)
  if (requestId !== null) return settleOnce(call, requestId, request)
  return call.parts.traffic.ack(request.items).then((results) => json(encodeAck(request, results)))
}

async function settleOnce(call: Call, requestId: string, request: AckRequest): Promise<Answer> {
  const answer = await once(call, requestId, async (db) => {
    const [results = []] = await ack(db, [request.items])
    return { answer: encodeAck(request, results), commit: true }
  })
  for (const item of request.items) call.parts.traffic.freed(item)
  return json(answer)
}

/** The server's own rule, where every queue's is off: an item without a lease is refused by itself. */
function demandLeases(request: AckRequest): AckRequest {
  if (request.items.every((item) => item.leaseId !== null)) return request
  const items: AckItem[] = []
  const refused = new Map(request.refused)
  let next = 0
  for (let index = 0; index < request.transactionIds.length; index++) {
    if (refused.has(index)) continue
    const item = request.items[next++]
    if (item && item.leaseId === null) refused.set(index, 'a lease is required')
    else if (item) items.push(item)
  }
  return { ...request, items, refused }
}

const answers = {
  200: '[{"index":0,"transactionId":"…","success":true,"error":null,"leaseReleased":true,"dlq":false,"noop":false}]',
  400: 'A field is missing or of the wrong type.',
  409: 'The request id was used with another body.',
} as const

export const ackRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/ack',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: 'Settles one message as completed, failed, retry or dlq.',
    body: { ...ACK_ITEM, ...ACK_BODY },
    answers,
    handle: one,
  },
  {
    method: 'POST',
    path: '/api/v1/ack/batch',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: `Settles up to ${LIMITS.ackItems} messages of one group; \`acknowledgments\` holds the items.`,
    body: [
      { at: '', fields: { acknowledgments: listed(false, LIMITS.ackItems), ...ACK_BODY } },
      { at: 'acknowledgments[]', fields: ACK_ITEM },
    ],
    answers,
    handle: many,
  },
]
