// The answer of a pop as deliveries; the payload of each is the text that travelled.
import { boolean, integer, optional } from '../../protocol/check.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import type { Delivery } from '../../protocol/message.ts'
import { fieldsIn, plainText, readAnswer, recordIn, recordsIn, textIn } from './answer-reader.ts'

const MESSAGE = {
  id: plainText,
  transactionId: plainText,
  traceId: optional(plainText, null),
  producerSub: optional(plainText, null),
  createdAt: plainText,
  partitionId: plainText,
  partition: plainText,
  leaseId: plainText,
  consumerGroup: plainText,
  deliveryAttempt: integer(0, Number.MAX_SAFE_INTEGER),
  offset: integer(0, Number.MAX_SAFE_INTEGER),
} as const

const FLAGS = { conflationConflict: optional(boolean, false) } as const

const SHAPE = inObject({ messages: inArray(inObject({ data: CUT })) })

export interface PopAnswer {
  readonly messages: readonly Delivery[]
  /** The group conflates, or does not, against what was asked. */
  readonly conflict: boolean
}

export function popAnswer(body: string, queue: string): PopAnswer {
  const answer = readAnswer(body, SHAPE)
  const { messages } = recordIn(answer.envelope)
  const { conflationConflict: conflict } = fieldsIn(FLAGS, answer.envelope)
  const deliveries = recordsIn(messages, null).map((message) => ({
    ...fieldsIn(MESSAGE, message),
    queue,
    payload: textIn(answer, message, 'data') ?? 'null',
  }))
  return { messages: deliveries, conflict }
}
