// The answer of a pop as deliveries; the payload of each is the text that travelled.
import { integer, optional } from '../../protocol/check.ts'
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

const SHAPE = inObject({ messages: inArray(inObject({ data: CUT })) })

export function popAnswer(body: string, queue: string): readonly Delivery[] {
  const answer = readAnswer(body, SHAPE)
  const { messages } = recordIn(answer.envelope)
  return recordsIn(messages, null).map((message) => ({
    ...fieldsIn(MESSAGE, message),
    queue,
    payload: textIn(answer, message, 'data') ?? 'null',
  }))
}
