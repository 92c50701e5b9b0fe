// Works on one pop as a whole: the handler gets all its messages. Each partition is settled by itself: completed at its
// last message, failed or handed back at the first that is not done, so that a failure spends one retry of one message.
import type { AckItem, Delivery } from '../../protocol/message.ts'
import type { Attempt } from '../attempts.ts'
import type { Message } from '../message.ts'
import { settleAcks, type ConsumeContext } from './consume-context.ts'
import { ackOf, laneBatches, type LaneBatch } from './lane-batch.ts'
import { keepClaim } from './keep-claim.ts'
import { runHandler } from './run-handler.ts'
import { settle, type Ended } from './settle.ts'
import { settledAck } from './settled-ack.ts'
import { validMessage } from './valid-message.ts'

interface Watched {
  readonly delivery: Delivery
  readonly attempt: Attempt
}

interface LaneWork {
  readonly lane: LaneBatch
  /** What the handler gets of it. */
  readonly watched: readonly Watched[]
  readonly messages: readonly Message<unknown>[]
  /** The ack of the first that its schema refuses; nothing behind it is handled now. */
  readonly refused: { readonly delivery: Delivery; readonly end: () => Promise<AckItem> } | null
}

async function prepare(context: ConsumeContext, lane: LaneBatch): Promise<LaneWork> {
  const watched: Watched[] = []
  const messages: Message<unknown>[] = []
  for (const delivery of lane.deliveries) {
    const validated = await validMessage(context, delivery, lane.lost.signal)
    if (!validated.valid) return { lane, watched, messages, refused: { delivery, end: validated.end } }
    messages.push(validated.message)
    const held = { ...delivery, group: delivery.consumerGroup }
    watched.push({ delivery, attempt: context.attempts.begin(held, () => lane.lost.abort()) })
  }
  return { lane, watched, messages, refused: null }
}

/** The partition's messages seen as one. */
function attemptOf(watched: readonly Watched[]): Attempt {
  const attempts = watched.map(({ attempt }) => attempt)
  const last = attempts.at(-1)
  const released = attempts.some((attempt) => attempt.released)
  return {
    settled: released || last?.settled === true,
    done: last?.done === true,
    released,
    lost: attempts.find(({ lost }) => lost !== null)?.lost ?? null,
    leaseLost: attempts.some(({ leaseLost }) => leaseLost),
  }
}

/** Settles what the handler had: how many are finished with, and whether the rest of the batch is still ours. */
async function settleHandled(
  context: ConsumeContext,
  watched: readonly Watched[],
  ended: Ended,
): Promise<{ readonly finished: number; readonly held: boolean }> {
  const last = watched.at(-1)
  if (last === undefined) return { finished: 0, held: true }
  // A completed message completes all before it.
  const done = 1 + watched.findLastIndex(({ attempt }) => attempt.done)
  const settlement = settle(ended, attemptOf(watched), context.plan.autoAck)
  if (settlement.ack === null) {
    if (settlement.untouched && done === 0) context.warnUntouched()
    return { finished: settlement.finished ? watched.length : done, held: settlement.held }
  }
  const completes = settlement.ack === 'completed'
  const { delivery } = completes ? last : (watched[done] ?? last)
  const [outcome] = await settleAcks(context, [delivery], [settledAck(context, delivery, settlement)])
  if (outcome?.success !== true) return { finished: done, held: false }
  if (completes) return { finished: watched.length, held: !outcome.leaseReleased }
  return { finished: done + (outcome.deadLettered ? 1 : 0), held: false }
}

async function settleLane(context: ConsumeContext, { watched, refused }: LaneWork, ended: Ended): Promise<number> {
  const { finished, held } = await settleHandled(context, watched, ended)
  if (refused === null || !held) return finished
  const ack = await refused.end()
  const [outcome] = await settleAcks(context, [refused.delivery], [ack])
  const gone = outcome?.success === true && (ack.status === 'completed' || outcome.deadLettered)
  return finished + (gone ? 1 : 0)
}

/** Hands every partition back at its first message. */
async function handBack(context: ConsumeContext, lanes: readonly LaneBatch[]): Promise<void> {
  const firsts = lanes.flatMap(({ deliveries }) => deliveries.slice(0, 1))
  await settleAcks(
    context,
    firsts,
    firsts.map((delivery) => ackOf(delivery, 'retry')),
  )
}

export async function workBatch(
  context: ConsumeContext,
  deliveries: readonly Delivery[],
  handler: (messages: readonly Message<unknown>[]) => unknown,
  finished: (count: number) => void,
): Promise<void> {
  const { attempts, stopping } = context
  const lanes = laneBatches(deliveries)
  if (stopping.thrown) {
    await handBack(context, lanes)
    return
  }
  const keeper = keepClaim(context, deliveries, () => {
    for (const lane of lanes) lane.lost.abort()
  })
  try {
    const works = await Promise.all(lanes.map(async (lane) => prepare(context, lane)))
    const messages = works.flatMap((work) => work.messages)
    const ended: Ended =
      messages.length === 0
        ? { how: 'returned' }
        : await runHandler(
            context,
            works.flatMap(({ watched }) => watched.map(({ delivery }) => delivery)),
            () => handler(messages),
          )
    if (ended.how === 'abandoned') for (const lane of lanes) lane.lost.abort()
    for (const { watched } of works) {
      for (const { delivery } of watched) attempts.end({ ...delivery, group: delivery.consumerGroup })
    }
    await Promise.all(works.map(async (work) => finished(await settleLane(context, work, ended))))
  } finally {
    keeper.stop()
  }
}
