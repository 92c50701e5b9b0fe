// Timers over HTTP: messages that are pushed later. An absent timer is an answer with 200, never an error.
import { getTimer } from '../../operations/get-timer.ts'
import { listTimers } from '../../operations/list-timers.ts'
import { timers } from '../../operations/timers.ts'
import { integerText, optional, readFields, root, text } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { partitionName, timerKey, transactionIdText } from '../../protocol/names.ts'
import { encodeTimer, encodeTimerPage, encodeTimers, timerResult } from '../../protocol/timer-answers.ts'
import { decodeTimers, TIMER_FIELDS, TIMER_REQUEST_ID } from '../../protocol/timer-request.ts'
import type { TimerOperation } from '../../protocol/timer.ts'
import { listed } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { once, requestIdOf } from './request-once.ts'
import { TIMER_PARTS } from './timer-parts.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function many(call: Call): Promise<Answer> {
  const { requestId: ofBody, operations } = decodeTimers(bodyText(call.body), call.sub)
  const requestId = requestIdOf(call, ofBody)
  if (requestId === null) return json(encodeTimers(operations, await call.parts.traffic.timers(operations)))
  const answer = await once(call, requestId, async (db) => {
    const [results = []] = await timers(db, [operations])
    return { answer: encodeTimers(operations, results), commit: true }
  })
  return json(answer)
}

const PLACE = { queue: partitionName, timerKey } as const
const CANCEL_QUERY = { txn: optional(transactionIdText, null) } as const

async function cancel(call: Call): Promise<Answer> {
  const { queue, timerKey: key } = readFields(PLACE, call.params, root())
  const { txn } = readFields(CANCEL_QUERY, readQuery(call.queryText), root('query '))
  const operation: TimerOperation = { op: 'cancel', queue, key, transactionId: txn }
  const [result] = await call.parts.traffic.timers([operation])
  return json(result === undefined ? '{}' : `{${timerResult(operation, result)}}`)
}

async function show(call: Call): Promise<Answer> {
  const { queue, timerKey: key } = readFields(PLACE, call.params, root())
  const timer = await reading(call, (db) => getTimer(db, queue, key))
  return json(encodeTimer(queue, timer, timer?.payload ? Buffer.from(timer.payload).toString('base64') : null))
}

const LIST_QUERY = {
  after: optional(text({ max: LIMITS.timerKeyBytes }), ''),
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
} as const

async function list(call: Call): Promise<Answer> {
  const { queue } = readFields({ queue: partitionName }, call.params, root())
  const { after, limit } = readFields(LIST_QUERY, readQuery(call.queryText), root('query '))
  const page = await reading(call, (db) => listTimers(db, queue, after, limit))
  return json(encodeTimerPage(queue, page.timers, page.truncated))
}

const TIMER =
  '"timerKey":"…","partition":"Default","deliverAt":"…","txn":"…","messageId":"…","attempts":0,"lastError":null,"createdAt":"…","updatedAt":"…"'

export const timerRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/timers',
    access: 'write-only',
    rank: 'A',
    changes: true,
    about: `Schedules and cancels up to ${LIMITS.timerOperations} timers, each judged alone. A timer is named by queue and key; one that is pending is replaced. Its message is pushed once, not before deliverAt, with the ids told here. The body is {"operations": […]} or an array.`,
    body: [
      { at: '', fields: { operations: listed(false, LIMITS.timerOperations), ...TIMER_REQUEST_ID } },
      ...TIMER_PARTS,
    ],
    answers: {
      200: '{"results":[{"index":0,"op":"schedule","ok":true,"status":"scheduled|rescheduled|cancelled|absent","queue":"…","timerKey":"…","txn":"…","messageId":"…","deliverAt":"…"}]}',
      400: '{"error":"timers_bad_request","reason":"timers_…","detail":"…"}',
      403: '{"error":"timer_horizon_exceeded","reason":"timers_horizon","detail":"…"}',
      409: 'The request id was used with another body.',
      413: 'A payload is too large.',
    },
    handle: many,
  },
  {
    method: 'GET',
    path: '/api/v1/timers/:queue',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: 'Pending timers of a queue in byte order of their keys, without payloads.',
    query: LIST_QUERY,
    answers: { 200: `{"rows":[{"queue":"…",${TIMER}}],"truncated":false,"nextAfter":null}` },
    handle: list,
  },
  {
    method: 'GET',
    path: '/api/v1/timers/:queue/*timerKey',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: 'One pending timer; its payload is base64 of the JSON text.',
    answers: { 200: `{"found":true,"queue":"…",${TIMER},"payload":"…"} or {"found":false}` },
    handle: show,
  },
  {
    method: 'DELETE',
    path: '/api/v1/timers/:queue/*timerKey',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about: 'Cancels a timer. One that has fired already is absent; `txn` is told again then.',
    query: { txn: TIMER_FIELDS.cancel.txn },
    answers: { 200: '{"ok":true,"status":"cancelled|absent","queue":"…","timerKey":"…","txn":"…"}' },
    handle: cancel,
  },
]
