// Works through one pop message by message: each is settled before the next of its partition begins, and once the lease of
// a partition is lost or given back the rest of it is dropped, to be delivered again by whoever holds it then.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import type { Message } from '../message.ts'
import { settleAcks, type ConsumeContext } from './consume-context.ts'
import { ackOf, laneBatches, type LaneBatch } from './lane-batch.ts'
import { keepClaim } from './keep-claim.ts'
import { runHandler } from './run-handler.ts'
import { settle } from './settle.ts'
import { settledAck } from './settled-ack.ts'
import { validMessage } from './valid-message.ts'

/** What became of one message. */
export interface Handled {
  /** Done with: it counts towards the limit. */
  readonly finished: boolean
  /** The rest of its partition's batch is still leased to us. */
  readonly held: boolean
}

export type HandleOne = (delivery: Delivery, lane: LaneBatch) => Promise<Handled>

export async function sendAck(context: ConsumeContext, delivery: Delivery, item: AckItem): Promise<Handled> {
  const [outcome] = await settleAcks(context, [delivery], [item])
  if (outcome === undefined || !outcome.success) return { finished: false, held: false }
  const completed = item.status === 'completed'
  return { finished: completed || outcome.deadLettered, held: completed && !outcome.leaseReleased }
}

/** The handler of `consume` without `transactional()`. */
export function handleWith(context: ConsumeContext, handler: (message: Message<unknown>) => unknown): HandleOne {
  return async (delivery, lane) => {
    const validated = await validMessage(context, delivery, lane.lost.signal)
    if (!validated.valid) return sendAck(context, delivery, await validated.end())
    const held = { ...delivery, group: delivery.consumerGroup }
    const attempt = context.attempts.begin(held, () => lane.lost.abort())
    const ended = await runHandler(context, [delivery], () => handler(validated.message))
    context.attempts.end(held)
    if (ended.how === 'abandoned') lane.lost.abort()
    const settlement = settle(ended, attempt, context.plan.autoAck)
    if (settlement.ack !== null) return sendAck(context, delivery, settledAck(context, delivery, settlement))
    if (settlement.untouched) context.warnUntouched()
    return settlement
  }
}

export async function workEach(
  context: ConsumeContext,
  deliveries: readonly Delivery[],
  handle: HandleOne,
  finished: (count: number) => void,
): Promise<void> {
  const { stopping } = context
  const lanes = laneBatches(deliveries)
  const keeper = keepClaim(context, deliveries, () => {
    for (const lane of lanes) lane.lost.abort()
  })
  const unstarted: Delivery[] = []
  try {
    for (const lane of lanes) {
      for (const delivery of lane.deliveries) {
        // First: a handler that was left may have settled its message, and the rest is still held.
        if (stopping.thrown) {
          unstarted.push(delivery)
          break
        }
        if (lane.lost.signal.aborted) break
        const handled = await handle(delivery, lane)
        if (handled.finished) finished(1)
        if (!handled.held) break
      }
    }
  } finally {
    keeper.stop()
  }
  // Uncounted, and at once: whoever comes next finds them where we leave them.
  await settleAcks(
    context,
    unstarted,
    unstarted.map((delivery) => ackOf(delivery, 'retry')),
  )
}
