// The calls about dead letters as routes of the wire, and their answers. Payloads are the text that travelled.
import { boolean, integer, oneOf, optional } from '../../protocol/check.ts'
import type { DeadLetter, DeadLetterSelection, Redriven } from '../../protocol/dead-letter.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import type { DeadLetterCalls } from '../dead-letters/dead-letters-client.ts'
import type { Answer, AnswerRecord } from './answer-reader.ts'
import { fieldsIn, plainText, readAnswer, recordIn, recordsIn, textIn } from './answer-reader.ts'
import { httpCall, type HttpSettings } from './http-call.ts'

const count = integer(0, Number.MAX_SAFE_INTEGER)
const LETTER = {
  id: plainText,
  messageId: plainText,
  transactionId: plainText,
  partitionId: plainText,
  queue: plainText,
  partition: plainText,
  consumerGroup: plainText,
  offset: optional(count, null),
  cause: plainText,
  errorMessage: plainText,
  retryCount: count,
  crashCount: count,
  traceId: optional(plainText, null),
  producerSub: optional(plainText, null),
  createdAt: plainText,
  failedAt: plainText,
  isEncrypted: optional(boolean, false),
  payloadAvailable: optional(boolean, true),
} as const
const SHAPE = inObject({ data: CUT })
const PAGE = inObject({ messages: inArray(SHAPE) })
const MOVED = {
  result: oneOf('moved', 'duplicate'),
  queue: plainText,
  partition: plainText,
  consumerGroup: plainText,
  originalTransactionId: plainText,
} as const
const COPY = { message_id: plainText, transaction_id: plainText } as const
const COUNTED = { matched: count, moved: count, kept: count } as const
const NOTHING = { queue: '', partition: '', group: '', originalTransactionId: '', messageId: null, transactionId: null }

function letterIn(answer: Answer, source: AnswerRecord): DeadLetter {
  const { consumerGroup, errorMessage, retryCount, crashCount, isEncrypted, payloadAvailable, ...fields } = fieldsIn(
    LETTER,
    source,
  )
  return {
    ...fields,
    group: consumerGroup,
    error: errorMessage,
    failures: retryCount,
    crashes: crashCount,
    encrypted: isEncrypted,
    payload: payloadAvailable ? (textIn(answer, source, 'data') ?? 'null') : null,
  }
}

function movedIn(body: string): Redriven {
  const envelope = recordIn(readAnswer(body, {}).envelope)
  const { consumerGroup, ...moved } = fieldsIn(MOVED, envelope)
  const { message_id: messageId, transaction_id: transactionId } = fieldsIn(COPY, envelope['replayedAs'])
  return { ...moved, group: consumerGroup, messageId, transactionId }
}

/** Of a refusal that is an answer; a fault is thrown on. */
function refusedBy(error: unknown): Redriven {
  if (error instanceof LockstepError && error.code === 'not_found') return { ...NOTHING, result: 'gone' }
  const reason = error instanceof LockstepError ? error.details['reason'] : undefined
  if (reason === 'queue_not_found' || reason === 'queue_full') return { ...NOTHING, result: reason }
  throw error
}

function selectionQuery(selection: Partial<DeadLetterSelection>): URLSearchParams {
  const query = new URLSearchParams()
  const { queue, group, partition, error, from, to } = selection
  for (const [name, value] of Object.entries({ queue, consumerGroup: group, partition, error, from, to }))
    if (value !== null && value !== undefined) query.set(name, value)
  return query
}

/** A replay by whatever route names the dead letter. */
export async function httpReplay(settings: HttpSettings, path: string, target: unknown): Promise<Redriven> {
  try {
    const call = { method: 'POST', path, body: JSON.stringify(target), repeatable: false } as const
    return movedIn((await httpCall(settings, call)).text)
  } catch (error) {
    return refusedBy(error)
  }
}

export function httpDeadLetterCalls(settings: HttpSettings): DeadLetterCalls {
  const read = async (path: string): Promise<string> =>
    (await httpCall(settings, { method: 'GET', path, repeatable: true })).text
  const post = async (path: string, body: unknown): Promise<string> =>
    (await httpCall(settings, { method: 'POST', path, body: JSON.stringify(body), repeatable: false })).text

  return {
    async list({ limit, offset, queue, ...filter }) {
      const query = selectionQuery(queue === null ? filter : { ...filter, queue })
      query.set('limit', String(limit))
      query.set('offset', String(offset))
      const answer = readAnswer(await read(`/api/v1/dlq?${query.toString()}`), PAGE)
      const { messages } = recordIn(answer.envelope)
      const { cut } = fieldsIn({ cut: optional(boolean, false) }, answer.envelope)
      return { entries: recordsIn(messages, null).map((letter) => letterIn(answer, letter)), cut }
    },

    async get(id) {
      try {
        const answer = readAnswer(await read(`/api/v1/dlq/${id}`), SHAPE)
        return letterIn(answer, recordIn(answer.envelope))
      } catch (error) {
        if (error instanceof LockstepError && error.code === 'not_found') return null
        throw error
      }
    },

    replay: async (id, target) => httpReplay(settings, `/api/v1/dlq/${id}/replay`, target),

    async replayAll({ group, ...selection }, dryRun) {
      const body = { ...selection, consumerGroup: group, dryRun }
      return fieldsIn(COUNTED, readAnswer(await post('/api/v1/dlq/replay', body), {}).envelope)
    },

    async purge(selection, dryRun) {
      const query = selectionQuery(selection)
      query.set('dryRun', String(dryRun))
      const path = `/api/v1/dlq?${query.toString()}`
      const { text } = await httpCall(settings, { method: 'DELETE', path, repeatable: false })
      return fieldsIn({ deleted: count }, readAnswer(text, {}).envelope).deleted
    },
  }
}
