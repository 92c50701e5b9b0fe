// One message by its address, with what each group made of it.
import { findMessage } from '../../operations/find-message.ts'
import { root } from '../../protocol/check.ts'
import type { FoundMessage } from '../../protocol/found-message.ts'
import { QUEUE_MODE } from '../../protocol/message.ts'
import { transactionIdText } from '../../protocol/names.ts'
import { reading } from './read-call.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function find(call: Call): Promise<Answer> {
  const partitionId = call.params['partitionId'] ?? ''
  const transactionId = transactionIdText.read(call.params['transactionId'], root(), 'transactionId')
  const found = await reading(call, (db) => findMessage(db, partitionId, transactionId))
  if (found === null) return json('{"error":"Message not found","code":"not_found"}', 404)
  return json(messageText(found))
}

function messageText(found: FoundMessage): string {
  const groups = found.consumerGroups
  const named = groups.filter(({ group }) => group !== QUEUE_MODE)
  const leases = groups.flatMap(({ leaseExpiresAt }) => (leaseExpiresAt === null ? [] : [leaseExpiresAt]))
  const head = JSON.stringify({
    id: found.id,
    transactionId: found.transactionId,
    partitionId: found.partitionId,
    partition: found.partition,
    queue: found.queue,
    queuePath: `${found.queue}/${found.partition}`,
    namespace: found.namespace,
    task: found.task,
    status: found.status,
    offset: found.offset,
    traceId: found.traceId,
    producerSub: found.producerSub,
    isEncrypted: false,
    createdAt: found.createdAt,
    retryCount: found.retryCount,
    errorMessage: found.errorMessage,
    leaseExpiresAt: leases.toSorted().at(-1) ?? null,
    queueConfig: found.queueOptions,
    consumerGroups: groups.map((group) => ({ name: group.group, ...group })),
    mode: {
      hasQueueMode: named.length < groups.length,
      busGroupsCount: named.length,
      type: named.length === 0 ? 'queue' : named.length < groups.length ? 'hybrid' : 'bus',
    },
  })
  return `${head.slice(0, -1)},"data":${found.payload},"payload":${found.payload}}`
}

export const messageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/messages/:partitionId/:transactionId',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: 'One message by partition id and transaction id.',
    answers: {
      200: '{"id":"…","transactionId":"…","partitionId":"…","partition":"…","queue":"…","queuePath":"…","namespace":"…","task":"…","status":"pending|processing|completed|dead_letter","payload":…,"data":…,"createdAt":"…","retryCount":0,"queueConfig":{…},"consumerGroups":[{"name":"…","group":"…","consumed":false,"leaseExpiresAt":null}]}',
      404: '{"error":"Message not found","code":"not_found"}',
    },
    handle: find,
  },
]
