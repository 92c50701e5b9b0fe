// Works on one pop as a whole: the handler gets all its messages. Each partition is settled by itself: completed at its
// last message, failed or handed back at the first that is not done, so that a failure spends one retry of one message.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import type { Attempt } from '../attempts.ts'
import type { Message } from '../message.ts'
import { settleAcks, type ConsumeContext } from './consume-context.ts'
import { ackOf, laneBatches, type LaneBatch } from './lane-batch.ts'
import { keepLease, renewalOf } from './lease-keeper.ts'
import { runHandler } from './run-handler.ts'
import { settle, type Ended } from './settle.ts'
import { refusedAck, validMessage } from './valid-message.ts'

interface Watched {
  readonly delivery: Delivery
  readonly attempt: Attempt
}

interface LaneWork {
  readonly lane: LaneBatch
  /** What the handler gets of it. */
  readonly watched: readonly Watched[]
  readonly messages: readonly Message<unknown>[]
  /** The first that its schema refuses; nothing behind it is handled now. */
  readonly refused: { readonly delivery: Delivery; readonly ack: () => Promise<AckItem> } | null
}

async function prepare(context: ConsumeContext, lane: LaneBatch): Promise<LaneWork> {
  const watched: Watched[] = []
  const messages: Message<unknown>[] = []
  for (const delivery of lane.deliveries) {
    const validated = await validMessage(context, delivery, lane.lost.signal)
    if (!validated.valid) {
      const { issues } = validated
      return { lane, watched, messages, refused: { delivery, ack: async () => refusedAck(context, delivery, issues) } }
    }
    messages.push(validated.message)
    const held = { ...delivery, group: delivery.consumerGroup }
    watched.push({ delivery, attempt: context.attempts.begin(held, () => lane.lost.abort()) })
  }
  return { lane, watched, messages, refused: null }
}

/** The lane's messages seen as one: settled when its last is, lost when a commit lost and nothing was settled. */
function attemptOf(watched: readonly Watched[]): Attempt {
  const attempts = watched.map(({ attempt }) => attempt)
  return {
    settled: attempts.at(-1)?.settled === true || attempts.some(({ released }) => released),
    released: attempts.some(({ released }) => released),
    lost: attempts.some(({ lost }) => lost),
    leaseLost: attempts.some(({ leaseLost }) => leaseLost),
  }
}

async function settleLane(context: ConsumeContext, work: LaneWork, ended: Ended): Promise<number> {
  const { watched, refused } = work
  const done = watched.findLastIndex(({ attempt }) => attempt.settled) + 1
  const last = watched.at(-1)?.delivery
  if (last !== undefined) {
    const attempt = attemptOf(watched)
    const touched = done > 0 && !context.plan.autoAck && ended.how === 'returned'
    const settlement = settle(ended, touched ? { ...attempt, settled: true } : attempt, context.plan.autoAck)
    if (settlement.ack === null) {
      if (settlement.untouched) context.warnUntouched()
      if (!settlement.finished || !settlement.held || refused === null) return settlement.finished ? watched.length : 0
    } else {
      const target = settlement.ack === 'completed' ? last : (watched[done]?.delivery ?? last)
      const [outcome] = await settleAcks(context, [ackOf(target, settlement.ack, settlement.error)])
      if (outcome?.success !== true) return done
      if (settlement.ack !== 'completed') return done + (outcome.deadLettered ? 1 : 0)
      if (refused === null || outcome.leaseReleased) return watched.length
    }
  }
  if (refused === null) return 0
  const ack = await refused.ack()
  const [outcome] = await settleAcks(context, [ack])
  const gone = outcome?.success === true && (ack.status === 'completed' || outcome.deadLettered)
  return watched.length + (gone ? 1 : 0)
}

export async function workBatch(
  context: ConsumeContext,
  deliveries: readonly Delivery[],
  handler: (messages: readonly Message<unknown>[]) => unknown,
  finished: (count: number) => void,
): Promise<void> {
  const { transport, plan, log, attempts } = context
  const lanes = laneBatches(deliveries)
  const keeper = keepLease(
    transport,
    log,
    deliveries[0]?.leaseId ?? '',
    renewalOf(plan.renewal, plan.leaseSeconds),
    () => {
      for (const lane of lanes) lane.lost.abort()
    },
  )
  try {
    const works = await Promise.all(lanes.map(async (lane) => prepare(context, lane)))
    const messages = works.flatMap((work) => work.messages)
    const ended: Ended =
      messages.length === 0 ? { how: 'returned' } : await runHandler(context, () => handler(messages))
    if (ended.how === 'abandoned') for (const lane of lanes) lane.lost.abort()
    for (const { watched } of works) {
      for (const { delivery } of watched) attempts.end({ ...delivery, group: delivery.consumerGroup })
    }
    await Promise.all(works.map(async (work) => finished(await settleLane(context, work, ended))))
  } finally {
    keeper.stop()
  }
}
