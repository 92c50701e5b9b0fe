// Works on the messages of one partition, under the lease of their pop: portion by portion, each one cycle that commits what is
// remembered, what goes out and how far it has read. A cycle that loses (the lease lapsed, another runner is at it) has changed nothing
// and ends the work: whoever gets the messages next reads the state anew.
import { LockstepError } from '../../protocol/errors.ts'
import type { Delivery } from '../../protocol/message.ts'
import type { StreamAck } from '../../protocol/stream.ts'
import type { ConsumeContext } from '../consume/consume-context.ts'
import { ackOf, type LaneBatch } from '../consume/lane-batch.ts'
import { errorLine } from '../logger.ts'
import { foldPortion, type Portion } from './fold-portion.ts'
import { prepareBatch, type Failed } from './prepare-batch.ts'
import type { CycleVerdict } from './stream-calls.ts'
import { goneError, tellError, tellLate, type StreamContext } from './stream-context.ts'

type Lane = Pick<LaneBatch, 'deliveries'> & { readonly signal: AbortSignal }

async function commit(
  context: StreamContext,
  partitionId: string,
  { state, out }: Pick<Portion, 'state' | 'out'>,
  ack: StreamAck,
  releaseLease: boolean,
): Promise<CycleVerdict> {
  const changes = state.changes()
  const place = { queryId: context.queryId, partitionId, group: null }
  return context.calls.cycle({ ...place, state: changes, pushes: out.items, ack, releaseLease })
}

/** Gives the rest of the batch back, uncounted: the next one to pop gets it. Its lease lapses if this is not heard. */
async function handBack({ transport, log, plan }: StreamContext, delivery: Delivery | undefined): Promise<void> {
  if (delivery === undefined) return
  try {
    await transport.ack([ackOf(delivery, 'retry')])
  } catch (error) {
    log.warn({ stream: plan.name, error: errorLine(error) }, 'a batch could not be handed back; its lease will lapse')
  }
}

function count(context: StreamContext, portion: Portion): void {
  const { counts } = context
  counts.messages += portion.taken
  counts.results += portion.out.items.length
  counts.closed += portion.closed
  tellLate(context, portion.late)
}

async function settleFailed(context: StreamContext, { ack, error, delivery }: Failed): Promise<void> {
  const { partition, offset } = delivery
  context.counts.failed += 1
  tellError(context, 'a message of a stream failed', error, { partition, offset })
  const [result] = await context.transport.ack([ack])
  if (result?.dlq === true) {
    context.log.warn({ stream: context.plan.name, partition, offset }, 'a message was moved to the dead letters')
  }
}

/** False: the work on this lane is over. */
async function judge(context: StreamContext, verdict: CycleVerdict, next: Delivery | undefined): Promise<boolean> {
  if (verdict.success) return true
  context.counts.lost += 1
  context.lastError = verdict.error
  context.log.warn(
    { stream: context.plan.name, partition: next?.partition, reason: verdict.reason, error: verdict.error },
    'a cycle of a stream changed nothing',
  )
  if (verdict.reason !== 'rejected_ack') await handBack(context, next)
  if (verdict.reason === 'unknown_query') throw goneError(context)
  return false
}

async function portions(context: StreamContext, consuming: ConsumeContext, lane: Lane): Promise<void> {
  const { deliveries, signal } = lane
  const leaseId = deliveries[0]?.leaseId ?? ''
  const partitionId = deliveries[0]?.partitionId ?? ''
  const prepared = await prepareBatch(context.plan, consuming, deliveries, signal)
  let from = 0
  for (;;) {
    const rest = prepared.ready.slice(from)
    const portion = await foldPortion(context, rest)
    const { partition = null } = deliveries[0] ?? {}
    if (signal.aborted) {
      context.counts.lost += 1
      context.log.warn(
        { stream: context.plan.name, partition },
        'the lease of a batch was lost; nothing of it is committed',
      )
      return
    }
    if (portion.closeError !== undefined) {
      tellError(context, 'a window could not be closed; trying again', portion.closeError, { partition, offset: null })
    }
    const failed = portion.failed ?? (portion.taken === rest.length ? prepared.failed : null)
    const whole = from + portion.taken === deliveries.length
    if (portion.taken > 0) {
      const ack: StreamAck = { leaseId, status: 'completed', count: portion.taken }
      const verdict = await commit(context, partitionId, portion, ack, whole)
      if (!(await judge(context, verdict, deliveries[from]))) return
      count(context, portion)
      from += portion.taken
      if (context.plan.window !== null) context.nudge()
    }
    if (failed !== null) return settleFailed(context, failed)
    if (portion.gated) return handBack(context, deliveries[from])
    if (whole || from >= prepared.ready.length) return
  }
}

/** Faults that will not pass by themselves are thrown; others give the messages back. */
export async function workLane(context: StreamContext, consuming: ConsumeContext, lane: Lane): Promise<void> {
  try {
    await portions(context, consuming, lane)
  } catch (error) {
    if (!(error instanceof LockstepError) || error.retry === 'never') throw error
    const { partition = null } = lane.deliveries[0] ?? {}
    tellError(context, 'a batch of a stream could not be committed; it comes again', error, { partition, offset: null })
  }
}
