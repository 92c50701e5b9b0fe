// A message of an ephemeral queue as its taker holds it: the payload through the queue's schema, and what an ack needs. One that
// the schema refuses is no message: it is completed and told in the log, since an ephemeral queue has no dead letters.
import { checkValue, issuesText } from '../../protocol/standard-schema.ts'
import type { EphemeralMessage as Delivered } from '../../protocol/ephemeral.ts'
import type { Logger } from '../logger.ts'
import type { EphemeralPlan } from './ephemeral-plan.ts'

export interface EphemeralMessage<T> {
  readonly data: T
  /** The payload exactly as it was pushed, as text. */
  readonly text: string
  /** Of this delivery: a message that comes again has another one. */
  readonly id: string
  readonly queue: string
  readonly partition: string
  readonly consumerGroup: string
  /** 1 at the first delivery to this group. */
  readonly deliveryAttempt: number
}

export async function ephemeralMessage(
  plan: EphemeralPlan,
  delivered: Delivered,
  log: Logger,
): Promise<EphemeralMessage<unknown> | null> {
  const { name: queue, schema } = plan.definition
  const { id, partition, payload, attempts } = delivered
  let data: unknown = JSON.parse(payload)
  if (schema !== null) {
    const checked = await checkValue(schema, data)
    if (!checked.valid) {
      log.warn(
        { queue, partition, error: issuesText(checked.issues) },
        'an ephemeral message was dropped by its schema',
      )
      return null
    }
    data = checked.value
  }
  return { data, text: payload, id, queue, partition, consumerGroup: plan.group, deliveryAttempt: attempts }
}
