// Closes windows in partitions where no message comes any more: asks which are over, takes such a partition for a moment (a lease with
// an empty batch, which only one runner gets), and commits results, forgotten windows and the end of the lease in one cycle. Only the
// database's clock says what is over.
import { LockstepError } from '../../protocol/errors.ts'
import type { StreamAck } from '../../protocol/stream.ts'
import { pauseUnless, stopSwitch, type StopSwitch } from '../consume/stop-switch.ts'
import { closeOver, type Closing } from './close-over.ts'
import { outgoing } from './outgoing.ts'
import { FLOOR_KEY, floorIn, partitionState } from './partition-state.ts'
import { goneError, tellError, type StreamContext } from './stream-context.ts'

const PARTITIONS_PER_CLAIM = 50
/** Partitions closed side by side. */
const SIDE_BY_SIDE = 4
/** A window that another runner opens is seen after this long at the latest. */
const LONGEST_PAUSE_MS = 5_000
/** The clock of this process only says when to ask again. */
const SHORTEST_PAUSE_MS = 50
/** Many batches nudge it; it looks no more often than this unless a window is over sooner. */
const SPACING_MS = 250
const BUSY_PAUSE_MS = 500
const LONGEST_FAULT_PAUSE_MS = 30_000

interface Taken {
  readonly partitionId: string
  readonly partition: string
  readonly leaseId: string
  readonly nowMs: number
}

/** An empty batch that is given up: the next message, or another runner, has the partition at once. */
async function giveBack({ calls, queryId }: StreamContext, { partitionId, leaseId }: Taken): Promise<void> {
  const ack: StreamAck = { leaseId, status: 'retry', count: 1 }
  await calls.cycle({ queryId, partitionId, group: null, state: [], pushes: [], ack, releaseLease: true })
}

/** failed: a window stays open; the partition is given back. again: more is over than one cycle takes. */
type Outcome = 'done' | 'again' | 'failed'

async function closeSome(context: StreamContext, graceMs: number, taken: Taken): Promise<Outcome> {
  const { calls, plan, queryId, counts } = context
  const { partitionId, partition, leaseId, nowMs } = taken
  const place = { queryId, partitionId, group: null }
  const state = partitionState(calls, place)
  const out = outgoing(plan)
  await state.need([FLOOR_KEY])
  const floor = Math.max(floorIn(state), nowMs - graceMs)
  const further = await state.needOver(floor)
  let closing: Closing
  try {
    closing = await closeOver(plan, state, out, partition, floor)
  } catch (error) {
    tellError(context, 'a window could not be closed; trying again', error, { partition, offset: null })
    await giveBack(context, taken)
    return 'failed'
  }
  const { closed, more } = closing
  const last = !further && !more
  const ack: StreamAck = { leaseId, status: closed === 0 ? 'retry' : 'completed', count: 1 }
  const verdict = await calls.cycle({ ...place, state: state.changes(), pushes: out.items, ack, releaseLease: last })
  if (verdict.success) {
    counts.closed += closed
    counts.results += out.items.length
    return last || closed === 0 ? 'done' : 'again'
  }
  counts.lost += 1
  if (verdict.reason === 'unknown_query') throw goneError(context)
  // The lease lapsed: the partition is another's by now.
  if (verdict.reason === 'rejected_ack') return 'done'
  tellError(context, 'a window could not be closed; trying again', verdict.error, { partition, offset: null })
  await giveBack(context, taken)
  return 'failed'
}

/** Every claimed partition until nothing in it is over. False when one could not be closed. */
async function closeAll(
  context: StreamContext,
  graceMs: number,
  all: readonly Taken[],
  stopping: StopSwitch,
): Promise<boolean> {
  const waiting = [...all]
  let well = true
  async function work(): Promise<void> {
    for (let taken = waiting.shift(); taken !== undefined; taken = waiting.shift()) {
      let outcome: Outcome = 'again'
      while (outcome === 'again' && !stopping.thrown) outcome = await closeSome(context, graceMs, taken)
      if (outcome === 'again') await giveBack(context, taken)
      if (outcome === 'failed') well = false
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  return well
}

/** One look. Milliseconds until the next one; null: it went wrong. */
async function look(context: StreamContext, graceMs: number, stopping: StopSwitch): Promise<number | null> {
  const { calls, queryId, leaseSeconds } = context
  const ripe = await calls.ripe({ queryId, graceMs, limit: PARTITIONS_PER_CLAIM })
  if (ripe === null) throw goneError(context)
  const { partitionIds } = ripe
  if (partitionIds.length === 0) {
    return Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, ripe.nextMs ?? LONGEST_PAUSE_MS))
  }
  const claimed = await calls.claim({ queryId, partitionIds, group: null, leaseSeconds })
  if (claimed === null) throw goneError(context)
  const { leaseId, nowMs } = claimed
  const taken = claimed.partitions.filter(({ status }) => status === 'claimed')
  const well = await closeAll(
    context,
    graceMs,
    taken.map((each) => ({ ...each, leaseId, nowMs })),
    stopping,
  )
  if (!well) return null
  // Where messages wait, or another runner is at it, the pop that brings them closes what is over.
  return taken.length > 0 ? SHORTEST_PAUSE_MS : BUSY_PAUSE_MS
}

export interface Closer {
  /** Look again soon. */
  nudge(): void
  run(stopping: StopSwitch): Promise<void>
}

export function closer(contextOf: () => StreamContext): Closer {
  let nudged = stopSwitch()

  return {
    nudge: () => nudged.throw(),
    async run(stopping) {
      const context = contextOf()
      const { window } = context.plan
      if (window === null) return
      const wake = stopping.onThrown(() => nudged.throw())
      let faultMs = BUSY_PAUSE_MS
      while (!stopping.thrown) {
        nudged = stopSwitch()
        let pauseMs: number | null = null
        try {
          pauseMs = await look(context, window.graceMs, stopping)
        } catch (error) {
          if (error instanceof LockstepError && error.retry === 'never') throw error
          tellError(context, 'a look for windows that are over failed; trying again', error, {
            partition: null,
            offset: null,
          })
        }
        if (stopping.thrown) break
        if (pauseMs === null) {
          await pauseUnless(stopping, faultMs)
          faultMs = Math.min(LONGEST_FAULT_PAUSE_MS, faultMs * 2)
          continue
        }
        faultMs = BUSY_PAUSE_MS
        await pauseUnless(stopping, Math.min(pauseMs, SPACING_MS))
        if (pauseMs > SPACING_MS) await pauseUnless(nudged, pauseMs - SPACING_MS)
      }
      wake()
    },
  }
}
