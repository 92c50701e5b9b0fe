// Messages looked up over the wire. Payloads are the text that travelled.
import { boolean, oneOf, optional } from '../../protocol/check.ts'
import type { ListedMessage } from '../../protocol/found-message.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import type { MessageCalls, MessageRef } from '../messages/messages-client.ts'
import { effectiveSettings } from '../queue-settings.ts'
import { amount, fieldsIn, plainText, readAnswer, recordIn, recordsIn, textIn } from './answer-reader.ts'
import type { Answer, AnswerRecord } from './answer-reader.ts'
import { httpReplay } from './dead-letter-calls.ts'
import type { HttpSettings } from './http-call.ts'
import { orNull, queryText, type Routes } from './routes.ts'

const MESSAGE = {
  id: plainText,
  transactionId: plainText,
  traceId: optional(plainText, null),
  producerSub: optional(plainText, null),
  payloadAvailable: boolean,
  isEncrypted: boolean,
  createdAt: plainText,
  queue: plainText,
  namespace: plainText,
  task: plainText,
  partitionId: plainText,
  partition: plainText,
  offset: optional(amount, null),
  status: oneOf('pending', 'processing', 'completed', 'dead_letter'),
} as const
const FATE = { retryCount: amount, errorMessage: optional(plainText, null) } as const
const READER = { group: plainText, consumed: boolean, leaseExpiresAt: optional(plainText, null) } as const
const SHAPE = inObject({ data: CUT, payload: CUT })
const PAGE = inObject({ messages: inArray(SHAPE) })

const ALL = '/api/v1/messages'

function messageIn(answer: Answer, source: AnswerRecord): ListedMessage {
  const { payloadAvailable, isEncrypted, ...fields } = fieldsIn(MESSAGE, source)
  const payload = payloadAvailable ? (textIn(answer, source, 'data') ?? 'null') : null
  return { ...fields, payload, encrypted: isEncrypted }
}

export function httpMessageCalls(settings: HttpSettings, { read, find, remove }: Routes): MessageCalls {
  const at = ({ partitionId, transactionId }: MessageRef): string =>
    `${ALL}/${encodeURIComponent(partitionId)}/${encodeURIComponent(transactionId)}`

  return {
    async list({ skip, ...filter }) {
      const answer = readAnswer(await read(`${ALL}${queryText({ ...filter, offset: skip })}`), PAGE)
      const { messages } = recordIn(answer.envelope)
      const { cut } = fieldsIn({ cut: boolean }, answer.envelope)
      return { entries: recordsIn(messages, null).map((source) => messageIn(answer, source)), cut }
    },

    async get(ref) {
      const text = await find(at(ref))
      if (text === null) return null
      const answer = readAnswer(text, SHAPE)
      const source = recordIn(answer.envelope)
      return {
        ...messageIn(answer, source),
        ...fieldsIn(FATE, source),
        queueOptions: effectiveSettings(recordIn(source['queueConfig'])),
        consumerGroups: recordsIn(source['consumerGroups'], null).map((group) => fieldsIn(READER, group)),
      }
    },

    retry: async (ref, target) => httpReplay(settings, `${at(ref)}/retry`, target),

    async delete(ref) {
      const text = await orNull(remove(at(ref)))
      return text === null ? 0 : fieldsIn({ deleted: amount }, readAnswer(text, {}).envelope).deleted
    },
  }
}
