// The three pops. A pop of one queue is parked in traffic and holds nothing but its connection; a client that goes away gives
// its place up at once, and a lease that could not be delivered is handed back. A discovery pop looks once, by priority.
import { encodePop } from '../../protocol/answers.ts'
import type { Conflated } from '../../protocol/answers.ts'
import type { Delivery } from '../../protocol/message.ts'
import { decodePop, POP_QUERY } from '../../protocol/pop-request.ts'
import { readQuery } from './read-query.ts'
import { json, NO_CONTENT } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

function popQueue(call: Call): Promise<Answer | null> {
  const { queue = '', partition } = call.params
  const { wish, waitMs } = decodePop(queue, partition ?? null, readQuery(call.queryText), call.parts.defaultMode)
  return new Promise((resolve, reject) => {
    const ticket = call.parts.traffic.parking.wait(
      wish,
      waitMs,
      (messages, conflation) => {
        const conflict = conflation !== null && conflation !== wish.conflation
        const conflated = { conflation: conflation ?? wish.conflation, conflict }
        resolve(delivered(call, queue, wish.group, messages, conflated))
      },
      reject,
    )
    call.response.once('close', () => {
      ticket.cancel()
      resolve(null)
    })
  })
}

/** The answer with what was found; a lease that cannot be delivered is handed back. Of conflation even an empty one tells. */
export function delivered(
  call: Call,
  queue: string,
  group: string,
  messages: readonly Delivery[],
  conflated: Conflated,
): Answer {
  const lease = messages[0]?.leaseId
  if (lease === undefined && !conflated.conflation && !conflated.conflict) return NO_CONTENT
  const answer = json(encodePop(queue, group, messages, conflated))
  if (lease === undefined) return answer
  return lease === ''
    ? answer
    : { ...answer, undelivered: () => call.parts.traffic.handBack(lease, queue === '' ? null : { queue, group }) }
}

export const POP_ANSWERS = {
  200: '{"success":true,"queue":"…","partition":"…","partitionId":"…","leaseId":"…","consumerGroup":"…","messages":[{"id":"…","transactionId":"…","traceId":null,"data":…,"producerSub":null,"createdAt":"…","partitionId":"…","partition":"…","leaseId":"…","consumerGroup":"…","deliveryAttempt":1,"offset":0}],"partitionsClaimed":1}; of a group that conflates also `"conflation":true`, of one that does not do as was asked `"conflationConflict":true`, then also without messages.',
  204: 'Nothing to deliver, now or within the time of a long poll.',
  400: 'A parameter is out of range, a mode is unknown, a time cannot be read, or conflation is asked for without a group or with commit on delivery.',
} as const

const route = (path: string, about: string): Route => ({
  method: 'GET',
  path,
  access: 'read-write',
  rank: 'A',
  changes: true,
  about,
  query: POP_QUERY,
  answers: POP_ANSWERS,
  handle: popQueue,
})

export const popRoutes: readonly Route[] = [
  route('/api/v1/pop/queue/:queue', 'Leases the next messages of a queue; the broker picks the partitions.'),
  route('/api/v1/pop/queue/:queue/partition/:partition', 'Leases the next messages of one partition.'),
]
