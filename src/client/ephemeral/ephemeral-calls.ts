// The routes of ephemeral queues, one exchange with a broker each. All calls of a queue go to the same of several brokers, since
// each has contents of its own. A push is never repeated: it has no id by which a second one would be known.
import { boolean, integer, oneOf, optional } from '../../protocol/check.ts'
import { DEFAULT_PARTITION } from '../../protocol/message.ts'
import type { EphemeralAck, EphemeralAckResult, EphemeralDepth, EphemeralMessage } from '../../protocol/ephemeral.ts'
import { EPHEMERAL_OPTIONS } from '../../protocol/ephemeral-options.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import {
  fieldsIn,
  plainText,
  readAnswer,
  recordIn,
  recordsIn,
  textIn,
  type AnswerRecord,
} from '../http/answer-reader.ts'
import type { HttpCall } from '../http/http-call.ts'
import type { EphemeralPlan } from './ephemeral-plan.ts'

export type Ask = (call: HttpCall) => Promise<string>

const PREFIX = '/api/v1/ephemeral'
const count = integer(0, Number.MAX_SAFE_INTEGER)
const PUSHED = { pushed: count } as const
const MESSAGE = { id: plainText, partition: plainText, attempts: count } as const
const MESSAGES = inObject({ messages: inArray(inObject({ payload: CUT })) })
const ACKED = {
  id: plainText,
  outcome: oneOf('acked', 'redelivered', 'stale', 'unknown'),
  dropped: optional(boolean, false),
} as const
const GROUP = { group: plainText, pending: count, leased: count } as const
const DEPTH = {
  queue: plainText,
  declared: boolean,
  messages: count,
  bytes: count,
  partitions: count,
  dropped: count,
} as const
const DELETED = { deleted: boolean, declared: boolean } as const

function depthIn(source: AnswerRecord): EphemeralDepth {
  return {
    ...fieldsIn(DEPTH, source),
    groups: recordsIn(source['groups'], null).map((group) => fieldsIn(GROUP, group)),
    options: fieldsIn(EPHEMERAL_OPTIONS, source['options']),
  }
}

export interface EphemeralCalls {
  push(plan: EphemeralPlan, payloads: readonly string[]): Promise<number>
  /** Given up because of the signal: an empty list. */
  pop(plan: EphemeralPlan, batch: number, signal: AbortSignal): Promise<readonly EphemeralMessage[]>
  ack(queue: string, group: string, acks: readonly EphemeralAck[]): Promise<readonly EphemeralAckResult[]>
  configure(plan: EphemeralPlan): Promise<void>
  reset(queue: string): Promise<number>
  delete(queue: string): Promise<{ readonly deleted: boolean; readonly declared: boolean }>
  depth(queue: string): Promise<EphemeralDepth | null>
  list(): Promise<readonly EphemeralDepth[]>
}

export function ephemeralCalls(ask: Ask): EphemeralCalls {
  const post = async (verb: string, queue: string, body: string, repeatable: boolean): Promise<AnswerRecord> => {
    const call = { method: 'POST', path: `${PREFIX}/${verb}`, body, repeatable, affinity: queue } as const
    return recordIn(readAnswer(await ask(call), {}).envelope)
  }
  return {
    async push({ definition, partition }, payloads) {
      const place = JSON.stringify({ queue: definition.name, partition: partition ?? DEFAULT_PARTITION }).slice(0, -1)
      const messages = payloads.map((payload) => `{"payload":${payload}}`).join(',')
      return fieldsIn(PUSHED, await post('push', definition.name, `${place},"messages":[${messages}]}`, false)).pushed
    },

    async pop({ definition, partition, group, wait, timeoutMs, commitOnDelivery }, batch, signal) {
      const query = new URLSearchParams({ queue: definition.name, group, batch: String(batch), wait: String(wait) })
      if (wait) query.set('timeout', String(timeoutMs))
      if (partition !== null) query.set('partition', partition)
      if (commitOnDelivery) query.set('commitOnDelivery', 'true')
      const parked = wait ? { parkedMs: timeoutMs } : {}
      const call = { method: 'GET', path: `${PREFIX}/pop?${query.toString()}`, repeatable: true, signal } as const
      try {
        const answer = readAnswer(await ask({ ...call, ...parked, affinity: definition.name }), MESSAGES)
        return recordsIn(recordIn(answer.envelope)['messages'], null).map((source) => ({
          ...fieldsIn(MESSAGE, source),
          payload: textIn(answer, source, 'payload') ?? 'null',
        }))
      } catch (error) {
        // The broker sees the closed connection and keeps what it would have answered.
        if (signal.aborted) return []
        throw error
      }
    },

    async ack(queue, group, acks) {
      const answer = await post('ack', queue, JSON.stringify({ queue, group, acks }), true)
      return recordsIn(answer['results'], acks.length).map((result) => {
        const { dropped, ...rest } = fieldsIn(ACKED, result)
        return dropped ? { ...rest, dropped } : rest
      })
    },

    async configure({ definition, options }) {
      await post('configure', definition.name, JSON.stringify({ queue: definition.name, options }), true)
    },

    reset: async (queue) =>
      fieldsIn({ dropped: count }, await post('reset', queue, JSON.stringify({ queue }), true)).dropped,

    async delete(queue) {
      const path = `${PREFIX}/queue/${encodeURIComponent(queue)}`
      const answer = await ask({ method: 'DELETE', path, repeatable: true, affinity: queue })
      return fieldsIn(DELETED, readAnswer(answer, {}).envelope)
    },

    async depth(queue) {
      const path = `${PREFIX}/queues/${encodeURIComponent(queue)}/depth`
      try {
        const answer = await ask({ method: 'GET', path, repeatable: true, affinity: queue })
        return depthIn(recordIn(readAnswer(answer, {}).envelope))
      } catch (error) {
        if (error instanceof LockstepError && error.code === 'ephemeral_queue_not_found') return null
        throw error
      }
    },

    async list() {
      const answer = await ask({ method: 'GET', path: `${PREFIX}/queues`, repeatable: true })
      return recordsIn(recordIn(readAnswer(answer, {}).envelope)['queues'], null).map(depthIn)
    },
  }
}
