// What every part of a consumer shares: the way to the broker or the database, the plan, and the two ways to an end.
// `stopping` lets the handlers at work finish; `abandoned` is the end of that patience.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import { ackOutcome, type AckOutcome } from '../ack-input.ts'
import type { Attempts } from '../attempts.ts'
import type { Logger } from '../logger.ts'
import type { Plan } from '../plan.ts'
import type { Farewell } from './farewell.ts'
import { placeOf } from './place-of.ts'
import type { ReportLost } from './report-lost.ts'
import type { NoteTrace } from '../traces/note-trace.ts'
import type { StopSwitch } from './stop-switch.ts'
import type { InvalidIssue } from '../../protocol/standard-schema.ts'
import type { Transport } from '../transport.ts'

/** A message that its queue's schema refuses. */
export interface InvalidMessage {
  readonly text: string
  readonly transactionId: string
  readonly queue: string
  readonly partition: string
  readonly offset: number
  readonly issues: readonly InvalidIssue[]
}

export interface ConsumeContext {
  readonly transport: Transport
  readonly attempts: Attempts
  readonly log: Logger
  readonly plan: Plan
  readonly stopping: StopSwitch
  readonly abandoned: StopSwitch
  readonly farewell: Farewell
  /** Null: a message that its schema refuses is dead-lettered. */
  readonly onInvalid: ((message: InvalidMessage) => unknown) | null
  /** How long the consumer's leases are; looked up at most once. */
  readonly leaseSeconds: () => Promise<number>
  /** Says once per consumer that a handler left its message alone. */
  readonly warnUntouched: () => void
  readonly reportLost: ReportLost
  readonly noteTrace: NoteTrace
  /** The group conflates, or does not, against the plan. */
  readonly warnConflict: () => void
}

/** Sends one ack per delivery for the loop itself; an answer that never came leaves the lease to lapse and is reported. */
export async function settleAcks(
  context: ConsumeContext,
  deliveries: readonly Delivery[],
  items: readonly AckItem[],
): Promise<readonly AckOutcome[]> {
  if (items.length === 0) return []
  if (items.some(({ status }) => status === 'retry')) await context.farewell.heard()
  const results = await context.transport.ack(items)
  return items.map((item, index) => {
    const result = results[index]
    const outcome: AckOutcome =
      result === undefined
        ? { success: false, transactionId: item.transactionId ?? '', reason: 'rejected', error: 'no answer' }
        : ackOutcome(item, result)
    const delivery = deliveries[index]
    const place = delivery === undefined ? { transactionId: item.transactionId } : placeOf(delivery)
    if (!outcome.success) {
      context.log.warn({ ...place, status: item.status, reason: outcome.error }, 'an ack changed nothing')
    } else if (outcome.deadLettered) {
      context.log.warn({ ...place, error: item.error }, 'a message was moved to the dead letters')
    }
    return outcome
  })
}
