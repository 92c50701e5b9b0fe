// Dead letters moved back or removed, one or many. Each move is one commit of the database; a dry run counts and changes
// nothing. Whoever waits for the queue that got a message back is woken.
import { purgeDeadLetters } from '../../operations/purge-dead-letters.ts'
import { purgeMessageLetters } from '../../operations/purge-message-letters.ts'
import { deadLetterOf } from '../../operations/dead-letter-of.ts'
import { redriveDeadLetter } from '../../operations/redrive-dead-letter.ts'
import type { RedriveTarget } from '../../operations/redrive-dead-letter.ts'
import { boolean, booleanText, optional, readFields, root, text } from '../../protocol/check.ts'
import type { Redriven } from '../../protocol/dead-letter.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { groupName, partitionName, queueName, transactionIdText } from '../../protocol/names.ts'
import { instant } from '../../protocol/pop-request.ts'
import { recordOf, sliced } from '../../protocol/request-body.ts'
import { isUuid } from '../../protocol/uuid.ts'
import { replayDeadLetters } from '../../traffic/replay-dead-letters.ts'
import { bodyText } from './read-body.ts'
import { noting, reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const TARGET = {
  queue: optional(text({ min: 1, max: LIMITS.nameBytes }), null),
  partition: optional(partitionName, null),
} as const

const bodyOf = (call: Call): Readonly<Record<string, unknown>> =>
  call.body.length === 0 ? {} : recordOf(sliced(bodyText(call.body), {}).envelope, root())

async function replay(call: Call): Promise<Answer> {
  const id = call.params['id'] ?? ''
  const target = readFields(TARGET, bodyOf(call), root())
  return isUuid(id) ? move(call, id, target) : gone()
}

/** The same move, addressed by the message. */
async function retry(call: Call): Promise<Answer> {
  const target = readFields(TARGET, bodyOf(call), root())
  const transactionId = transactionIdText.read(call.params['transactionId'], root(), 'transactionId')
  const id = await reading(call, (db) => deadLetterOf(db, call.params['partitionId'] ?? '', transactionId))
  return id === null ? gone() : move(call, id, target)
}

async function move(call: Call, id: string, target: RedriveTarget): Promise<Answer> {
  const moved = await noting(call, (db) => redriveDeadLetter(db, id, target))
  if (moved.result === 'gone') return gone()
  if (moved.result === 'queue_not_found' || moved.result === 'queue_full') {
    const error = moved.result === 'queue_full' ? 'the queue is full' : 'there is no such queue'
    return json(JSON.stringify({ success: false, error, reason: moved.result, dlqRowRemoved: false }), 409)
  }
  if (moved.result === 'moved') call.parts.traffic.committed(moved.queue)
  return json(replayedText(id, moved))
}

function replayedText(id: string, moved: Redriven): string {
  return JSON.stringify({
    success: true,
    result: moved.result,
    queue: moved.queue,
    partition: moved.partition,
    consumerGroup: moved.group,
    dlqId: id,
    originalTransactionId: moved.originalTransactionId,
    replayedAs: {
      index: 0,
      message_id: moved.messageId,
      transaction_id: moved.transactionId,
      queueName: moved.queue,
      status: moved.result === 'moved' ? 'queued' : 'duplicate',
    },
    dlqRowRemoved: moved.result === 'moved',
  })
}

const gone = (): Answer => json('{"success":false,"result":"gone","error":"Message not found","code":"not_found"}', 404)

const SELECTION = {
  consumerGroup: optional(groupName, null),
  partition: optional(partitionName, null),
  error: optional(text({ min: 1, max: LIMITS.errorTextBytes }), null),
  from: optional(instant, null),
  to: optional(instant, null),
} as const

const REPLAY_MANY = { queue: queueName, ...SELECTION, dryRun: optional(boolean, false) } as const

async function replayMany(call: Call): Promise<Answer> {
  const { consumerGroup: group, dryRun, ...selection } = readFields(REPLAY_MANY, bodyOf(call), root())
  const count = await noting(call, (db) => replayDeadLetters(db, { ...selection, group }, dryRun))
  if (count.moved > 0) call.parts.traffic.committed(selection.queue)
  return json(JSON.stringify({ success: true, queue: selection.queue, consumerGroup: group, dryRun, ...count }))
}

const PURGE = { queue: optional(queueName, null), ...SELECTION, dryRun: optional(booleanText, false) } as const

async function purge(call: Call): Promise<Answer> {
  const { queue, consumerGroup: group, dryRun, ...rest } = readFields(PURGE, readQuery(call.queryText), root())
  if (queue === null) {
    return json('{"success":false,"error":"queue is required","code":"bad_request"}', 400)
  }
  const deleted = await noting(call, (db) => purgeDeadLetters(db, { ...rest, queue, group }, dryRun))
  return json(JSON.stringify({ success: true, queue, consumerGroup: group, dryRun, deleted: deleted ?? 0 }))
}

async function purgeOne(call: Call): Promise<Answer> {
  const partitionId = call.params['partitionId'] ?? ''
  const transactionId = transactionIdText.read(call.params['transactionId'], root(), 'transactionId')
  const deleted = await noting(call, (db) => purgeMessageLetters(db, partitionId, transactionId))
  const address = { partitionId, transactionId }
  if (deleted > 0) return json(JSON.stringify({ success: true, ...address, deleted }))
  return json(JSON.stringify({ success: false, error: 'Message not found', code: 'not_found', ...address }), 404)
}

const MOVED = {
  200: '{"success":true,"result":"moved|duplicate","queue":"…","partition":"…","consumerGroup":"…","dlqId":"…","originalTransactionId":"…","replayedAs":{…},"dlqRowRemoved":true}',
  404: '{"success":false,"result":"gone","error":"Message not found"}',
  409: '{"success":false,"error":"…","reason":"queue_not_found|queue_full","dlqRowRemoved":false}',
} as const

export const deadLetterMoveRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/messages/:partitionId/:transactionId/retry',
    access: 'read-write',
    rank: 'B',
    changes: true,
    about:
      'Moves the newest dead letter of a message back, as `POST /api/v1/dlq/:id/replay` does; a live message is not found.',
    body: TARGET,
    answers: MOVED,
    handle: retry,
  },
  {
    method: 'POST',
    path: '/api/v1/dlq/:id/replay',
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Moves one dead letter back to the end of its partition, or of another: a copy under the id `dlq:<id>`.',
    body: TARGET,
    answers: MOVED,
    handle: replay,
  },
  {
    method: 'POST',
    path: '/api/v1/dlq/replay',
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Moves the dead letters of a queue back that the body selects; `error` is a text that the reason holds.',
    body: REPLAY_MANY,
    answers: { 200: '{"success":true,"queue":"…","consumerGroup":null,"dryRun":false,"matched":3,"moved":3,"kept":0}' },
    handle: replayMany,
  },
  {
    method: 'DELETE',
    path: '/api/v1/dlq',
    access: 'admin',
    rank: 'B',
    changes: true,
    about: 'Removes the dead letters of a queue that the query selects.',
    query: PURGE,
    answers: {
      200: '{"success":true,"queue":"…","consumerGroup":null,"dryRun":false,"deleted":3}',
      400: '{"success":false,"error":"queue is required"}',
    },
    handle: purge,
  },
  {
    method: 'DELETE',
    path: '/api/v1/messages/:partitionId/:transactionId',
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Removes the dead letters of one message; a live message is not touched.',
    answers: {
      200: '{"success":true,"partitionId":"…","transactionId":"…","deleted":1}',
      404: '{"success":false,"error":"Message not found"}',
    },
    handle: purgeOne,
  },
]
