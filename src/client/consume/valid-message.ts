// Makes a delivery into the message a handler gets, or says why its queue's schema refuses it. A refused one is completed
// when the caller's `onInvalid` took it, else dead-lettered with the path of the fault.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import { messageOf, type Message } from '../message.ts'
import { checkValue, issuesText, type InvalidIssue } from '../standard-schema.ts'
import type { ConsumeContext } from './consume-context.ts'
import { ackOf } from './lane-batch.ts'

export type Validated =
  | { readonly valid: true; readonly message: Message<unknown> }
  | { readonly valid: false; readonly issues: readonly InvalidIssue[] }

export async function validMessage(
  context: Pick<ConsumeContext, 'plan'>,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Validated> {
  const data: unknown = JSON.parse(delivery.payload)
  const { schema } = context.plan.definition
  if (schema === null) return { valid: true, message: messageOf(delivery, data, signal) }
  const checked = await checkValue(schema, data)
  return checked.valid ? { valid: true, message: messageOf(delivery, checked.value, signal) } : checked
}

/** The ack that ends a refused message. A throw of `onInvalid` is a failure of the message. */
export async function refusedAck(
  context: Pick<ConsumeContext, 'onInvalid'>,
  delivery: Delivery,
  issues: readonly InvalidIssue[],
): Promise<AckItem> {
  if (context.onInvalid === null) return ackOf(delivery, 'dlq', `invalid payload: ${issuesText(issues)}`)
  const { transactionId, queue, partition, offset, payload } = delivery
  try {
    await context.onInvalid({ text: payload, transactionId, queue, partition, offset, issues })
    return ackOf(delivery, 'completed')
  } catch (error) {
    return ackOf(delivery, 'failed', error instanceof Error ? error.message : String(error))
  }
}
