// The client's way through the broker: each verb is one route of the wire. A verb is repeated after a lost answer only when
// its ids make that harmless: pushed items carry transaction ids, commits a request id.
import { LockstepError } from '../protocol/errors.ts'
import type { AckItem, AckResult } from '../protocol/message.ts'
import { ackBatchBody, kvBody, pushBody, timersBody, transactionBody } from './http/bodies.ts'
import { configureAnswer, deleteAnswer } from './http/queue-answers.ts'
import { httpCall, type HttpSettings } from './http/http-call.ts'
import { kvAnswer } from './http/kv-answer.ts'
import { locksAnswer } from './http/lock-answers.ts'
import { ackAnswer, extendAnswer, pushAnswer } from './http/message-answers.ts'
import { httpDeadLetterCalls } from './http/dead-letter-calls.ts'
import { httpGroupCalls } from './http/group-calls.ts'
import { httpMessageCalls } from './http/message-calls.ts'
import { httpQueueReads } from './http/queue-reads.ts'
import { httpRoutes } from './http/routes.ts'
import { httpRunCalls } from './http/run-calls.ts'
import { httpScheduleCalls } from './http/schedule-calls.ts'
import { httpTraceCalls } from './http/trace-calls.ts'
import { popAnswer } from './http/pop-answer.ts'
import { timerAnswer, timerPageAnswer, timersAnswer } from './http/timer-answers.ts'
import { writesNothing } from './kv-input.ts'
import { transactionAnswer } from './http/transaction-answer.ts'
import type { PopCall, Transport } from './transport.ts'

function popPath(call: PopCall): string {
  const query = new URLSearchParams({
    batch: String(call.batch),
    ...(call.partitions === null ? {} : { partitions: String(call.partitions) }),
    wait: String(call.wait),
    timeout: String(call.timeoutMs),
    consumerGroup: call.group,
  })
  if (call.conflation) query.set('conflation', 'true')
  if (call.leaseSeconds !== null) query.set('leaseSeconds', String(call.leaseSeconds))
  if (call.start !== null && 'mode' in call.start) query.set('subscriptionMode', call.start.mode)
  if (call.start !== null && 'from' in call.start) query.set('subscriptionFrom', call.start.from)
  const partition = call.partition === null ? '' : `/partition/${encodeURIComponent(call.partition)}`
  return `/api/v1/pop/queue/${encodeURIComponent(call.queue)}${partition}?${query.toString()}`
}

/** A call names one group; the answers are put back in the order of the items. */
async function ackByGroup(
  items: readonly AckItem[],
  send: (group: string, items: readonly AckItem[]) => Promise<readonly AckResult[]>,
): Promise<readonly AckResult[]> {
  const groups = [...new Set(items.map((item) => item.group))]
  const answers = await Promise.all(
    groups.map(async (group) => {
      const own = items.filter((item) => item.group === group)
      const results = await send(group, own)
      return own.map((item, index) => [item, results[index]] as const)
    }),
  )
  const found = new Map(answers.flat())
  return items.map((item) => {
    const result = found.get(item)
    if (result === undefined) throw new LockstepError('internal', 'an ack has no answer')
    return result
  })
}

export function httpTransport(settings: HttpSettings): Transport {
  const routes = httpRoutes(settings)
  const { post, read, remove } = routes

  return {
    async push(items) {
      // Where the polls of the queue are parked, if that broker is well: they are woken without a detour.
      const queue = items[0]?.queue
      const affinity = queue === undefined ? {} : { affinity: queue }
      const body = pushBody(items)
      const call = { method: 'POST', path: '/api/v1/push', body, repeatable: true, ...affinity } as const
      return pushAnswer((await httpCall(settings, call)).text, items.length)
    },

    async pop(call, signal) {
      const parked = call.wait ? { parkedMs: call.timeoutMs } : {}
      try {
        const answer = await httpCall(settings, {
          method: 'GET',
          path: popPath(call),
          repeatable: true,
          affinity: call.queue,
          signal,
          ...parked,
        })
        if (answer.status === 204) return []
        const { messages, conflict } = popAnswer(answer.text, call.queue)
        if (conflict) call.onConflict()
        return messages
      } catch (error) {
        // The broker sees the closed connection and hands back what it had leased.
        if (signal.aborted) return []
        throw error
      }
    },

    ack: async (items) =>
      ackByGroup(items, async (group, own) =>
        ackAnswer(await post('/api/v1/ack/batch', ackBatchBody(own, group), true), own.length),
      ),

    async renew(leaseId, seconds) {
      const path = `/api/v1/lease/${encodeURIComponent(leaseId)}/extend`
      return extendAnswer(await post(path, JSON.stringify({ seconds }), true))
    },

    async kv(operations) {
      // A write that arrived twice could undo what came between: its lost answer is told as unknown, never repeated.
      return kvAnswer(await post('/api/v1/kv', kvBody(operations), writesNothing(operations)), operations)
    },

    async locks(operations) {
      // A permit asked for twice by one owner is one permit, and a renewal or release that comes twice changes nothing more.
      return locksAnswer(await post('/api/v1/locks', JSON.stringify({ operations }), true), operations)
    },

    async timers(operations) {
      // One that arrived twice could fire twice: its lost answer is told as unknown, never repeated.
      return timersAnswer(await post('/api/v1/timers', timersBody(operations), false), operations.length)
    },

    async timer(queue, key) {
      return timerAnswer(await read(`/api/v1/timers/${encodeURIComponent(queue)}/${encodeURIComponent(key)}`))
    },

    async timerPage(queue, after, limit) {
      const query = new URLSearchParams({ after, limit: String(limit) })
      return timerPageAnswer(await read(`/api/v1/timers/${encodeURIComponent(queue)}?${query.toString()}`))
    },

    async transaction(step) {
      return transactionAnswer(await post('/api/v1/transaction', transactionBody(step), true), step)
    },

    step: async () => {
      throw new LockstepError('not_available', 'a step inside PostgreSQL does not go through a broker')
    },

    async configure(call) {
      return configureAnswer(await post('/api/v1/configure', JSON.stringify(call), true))
    },

    async deleteQueue(queue) {
      return deleteAnswer(await remove(`/api/v1/resources/queues/${encodeURIComponent(queue)}`))
    },

    groups: httpGroupCalls(routes),
    queues: httpQueueReads(routes),
    messages: httpMessageCalls(settings, routes),
    traces: httpTraceCalls(routes),
    deadLetters: httpDeadLetterCalls(settings),
    runs: httpRunCalls(settings),
    schedules: httpScheduleCalls(settings),

    work: async () => {
      throw new LockstepError(
        'not_available',
        'a worker runs beside PostgreSQL: make the client with { connectionString } or { pool }',
      )
    },

    streams: async () => null,
    ask: async (call) => (await httpCall(settings, call)).text,

    migrate: async () => {
      throw new LockstepError(
        'not_available',
        'a broker migrates its own database: run `lockstep migrate`, or make the client with { connectionString }',
      )
    },

    // fetch keeps its connections for the process and closes idle ones by itself.
    close: async () => {},
  }
}
