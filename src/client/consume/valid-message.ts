// Makes a delivery into the message a handler gets, or says how it ends without one: a message that its queue's schema refuses
// is dead-lettered with the path of the fault, or completed when the caller's `onInvalid` took it; a schema or an `onInvalid`
// that throws is a failure of the message.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import { errorLine } from '../logger.ts'
import { messageOf, type Message } from '../message.ts'
import { checkValue, issuesText, type Checked, type InvalidIssue } from '../../protocol/standard-schema.ts'
import type { ConsumeContext } from './consume-context.ts'
import { ackOf } from './lane-batch.ts'

type Context = Pick<ConsumeContext, 'plan' | 'onInvalid' | 'noteTrace'>

export type Validated =
  | { readonly valid: true; readonly message: Message<unknown> }
  /** `end` makes the ack that ends it; to be called when its turn has come. */
  | { readonly valid: false; readonly end: () => Promise<AckItem> }

async function refused({ onInvalid }: Context, delivery: Delivery, issues: readonly InvalidIssue[]): Promise<AckItem> {
  if (onInvalid === null) return ackOf(delivery, 'dlq', `invalid payload: ${issuesText(issues)}`)
  const { transactionId, queue, partition, offset, payload } = delivery
  try {
    await onInvalid({ text: payload, transactionId, queue, partition, offset, issues })
    return ackOf(delivery, 'completed')
  } catch (error) {
    return ackOf(delivery, 'failed', errorLine(error))
  }
}

export async function validMessage(context: Context, delivery: Delivery, signal: AbortSignal): Promise<Validated> {
  const data: unknown = JSON.parse(delivery.payload)
  const { schema } = context.plan.definition
  if (schema === null) return { valid: true, message: messageOf(delivery, data, signal, context.noteTrace) }
  let checked: Checked<unknown>
  try {
    checked = await checkValue(schema, data)
  } catch (error) {
    return { valid: false, end: async () => ackOf(delivery, 'failed', `the schema failed: ${errorLine(error)}`) }
  }
  if (checked.valid) return { valid: true, message: messageOf(delivery, checked.value, signal, context.noteTrace) }
  const { issues } = checked
  return { valid: false, end: async () => refused(context, delivery, issues) }
}
