// Dead letters: the list, newest first. Payloads are written as they were pushed.
import { listDeadLetters } from '../../operations/list-dead-letters.ts'
import { showDeadLetter } from '../../operations/show-dead-letter.ts'
import { integerText, optional, readFields, root, text } from '../../protocol/check.ts'
import type { DeadLetter } from '../../protocol/dead-letter.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { groupName, partitionName, queueName } from '../../protocol/names.ts'
import { instant } from '../../protocol/pop-request.ts'
import { isUuid } from '../../protocol/uuid.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const QUERY = {
  queue: optional(queueName, null),
  consumerGroup: optional(groupName, null),
  partition: optional(partitionName, null),
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  offset: optional(integerText(0, 1_000_000_000), 0),
  from: optional(instant, null),
  to: optional(instant, null),
  error: optional(text({ min: 1, max: LIMITS.errorTextBytes }), null),
} as const

async function list(call: Call): Promise<Answer> {
  const { consumerGroup: group, ...page } = readFields(QUERY, readQuery(call.queryText), root())
  const { entries, cut } = await reading(call, (db) => listDeadLetters(db, { ...page, group }))
  return json(
    `{"messages":[${entries.map(letterText).join(',')}],"pagination":{"limit":${page.limit},"offset":${page.offset}},"total":${entries.length},"cut":${cut}}`,
  )
}

function letterText(letter: DeadLetter): string {
  const { payload, ...fields } = letter
  const head = JSON.stringify({
    id: fields.id,
    messageId: fields.messageId,
    transactionId: fields.transactionId,
    partitionId: fields.partitionId,
    queue: fields.queue,
    partition: fields.partition,
    consumerGroup: fields.group,
    errorMessage: fields.error,
    cause: fields.cause,
    retryCount: fields.failures,
    crashCount: fields.crashes,
    offset: fields.offset,
    traceId: fields.traceId,
    producerSub: fields.producerSub,
    createdAt: fields.createdAt,
    failedAt: fields.failedAt,
    isEncrypted: fields.encrypted,
    payloadAvailable: payload !== null,
  })
  return `${head.slice(0, -1)},"data":${payload ?? 'null'}}`
}

async function show(call: Call): Promise<Answer> {
  const id = call.params['id'] ?? ''
  const letter = isUuid(id) ? await reading(call, (db) => showDeadLetter(db, id)) : null
  if (letter === null) return json('{"error":"Message not found","code":"not_found"}', 404)
  return json(letterText(letter))
}

export const deadLetterRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/dlq/:id',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'One dead letter.',
    answers: {
      200: '{"id":"…","transactionId":"…","partitionId":"…","queue":"…","partition":"…","consumerGroup":"…","errorMessage":"…","retryCount":4,"data":…,"producerSub":null,"createdAt":"…","failedAt":"…"}',
      404: '{"error":"Message not found","code":"not_found"}',
    },
    handle: show,
  },
  {
    method: 'GET',
    path: '/api/v1/dlq',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about:
      'Dead letters, newest first; `error` is a text that the reason holds. A page ends early where its payloads reach 8 MiB: `cut` is then true, and the next one begins at `offset` + `total`.',
    query: QUERY,
    answers: {
      200: '{"messages":[{"id":"…","transactionId":"…","partitionId":"…","queue":"…","partition":"…","consumerGroup":"…","errorMessage":"…","retryCount":4,"data":…,"producerSub":null,"createdAt":"…","failedAt":"…"}],"pagination":{"limit":100,"offset":0},"total":1,"cut":false}',
      400: 'A parameter is out of range or a time cannot be read.',
    },
    handle: list,
  },
]
