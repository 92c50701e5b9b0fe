// Messages looked up: one by its address with what each group made of it, or a list of those that are kept.
import { findMessage } from '../../operations/find-message.ts'
import { listGroups } from '../../operations/list-groups.ts'
import { listMessages } from '../../operations/list-messages.ts'
import { integerText, oneOf, optional, readFields, root } from '../../protocol/check.ts'
import type { FoundMessage, ListedMessage } from '../../protocol/found-message.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { QUEUE_MODE } from '../../protocol/message.ts'
import { namespaceName, partitionName, queueName, transactionIdText } from '../../protocol/names.ts'
import { instant } from '../../protocol/pop-request.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function find(call: Call): Promise<Answer> {
  const partitionId = call.params['partitionId'] ?? ''
  const transactionId = transactionIdText.read(call.params['transactionId'], root(), 'transactionId')
  const found = await reading(call, (db) => findMessage(db, partitionId, transactionId))
  if (found === null) return json('{"error":"Message not found","code":"not_found"}', 404)
  return json(messageText(found))
}

/** Whether anything reads without a group, and how many groups there are. */
function modeOf(groups: readonly string[]): string {
  const named = groups.filter((group) => group !== QUEUE_MODE).length
  const type = named === 0 ? 'queue' : named < groups.length ? 'hybrid' : 'bus'
  return JSON.stringify({ hasQueueMode: named < groups.length, busGroupsCount: named, type })
}

function messageText(found: FoundMessage): string {
  const groups = found.consumerGroups
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
    payloadAvailable: found.payload !== null,
    isEncrypted: found.encrypted,
    createdAt: found.createdAt,
    retryCount: found.retryCount,
    errorMessage: found.errorMessage,
    leaseExpiresAt: leases.toSorted().at(-1) ?? null,
    queueConfig: found.queueOptions,
    consumerGroups: groups.map((group) => ({ name: group.group, ...group })),
  })
  const mode = modeOf(groups.map(({ group }) => group))
  return `${head.slice(0, -1)},"mode":${mode},"data":${found.payload ?? 'null'},"payload":${found.payload ?? 'null'}}`
}

const LIST_QUERY = {
  queue: optional(queueName, null),
  partition: optional(partitionName, null),
  namespace: optional(namespaceName, null),
  ns: optional(namespaceName, null),
  task: optional(namespaceName, null),
  status: optional(oneOf('pending', 'processing', 'completed', 'dead_letter'), null),
  from: optional(instant, null),
  to: optional(instant, null),
  limit: optional(integerText(1, LIMITS.listLimit), 200),
  offset: optional(integerText(0, LIMITS.listLimit * 1_000), 0),
} as const

async function list(call: Call): Promise<Answer> {
  const { ns, offset: skip, ...filter } = readFields(LIST_QUERY, readQuery(call.queryText), root())
  const namespace = filter.namespace ?? ns
  const [{ entries, cut }, groups] = await reading(call, async (db) => [
    await listMessages(db, { ...filter, namespace, skip }),
    await listGroups(db, filter.queue),
  ])
  const mode = modeOf([...new Set(groups.map(({ group }) => group))])
  const messages = entries.map(listedText).join(',')
  return json(`{"messages":[${messages}],"mode":${mode},"total":${entries.length},"cut":${cut}}`)
}

function listedText({ payload, ...message }: ListedMessage): string {
  const head = JSON.stringify({
    id: message.id,
    transactionId: message.transactionId,
    partitionId: message.partitionId,
    queuePath: `${message.queue}/${message.partition}`,
    queue: message.queue,
    partition: message.partition,
    namespace: message.namespace,
    task: message.task,
    status: message.status,
    offset: message.offset,
    traceId: message.traceId,
    producerSub: message.producerSub,
    payloadAvailable: payload !== null,
    isEncrypted: message.encrypted,
    createdAt: message.createdAt,
  })
  return `${head.slice(0, -1)},"data":${payload ?? 'null'},"payload":${payload ?? 'null'}}`
}

export const messageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/messages',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about:
      'Kept messages, newest first. A page ends early where its payloads reach 8 MiB: `cut` is then true, and the next one begins at `offset` + `total`.',
    query: LIST_QUERY,
    answers: {
      200: '{"messages":[{"id":"…","transactionId":"…","partitionId":"…","queuePath":"…","queue":"…","partition":"…","namespace":"…","task":"…","status":"pending","offset":0,"createdAt":"…","data":…,"payload":…}],"mode":{"hasQueueMode":false,"busGroupsCount":1,"type":"queue|bus|hybrid"},"total":1,"cut":false}',
    },
    handle: list,
  },
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
