// As many messages of one partition as one cycle takes: their folds, the windows that are over then, and what goes out. It ends in
// front of a message that fails or at which the gate is closed. Whatever throws has spoilt the state in memory, so what stood before
// it is folded again from what the database holds: the functions of a stream may be asked twice.
import { closeOver } from './close-over.ts'
import { foldMessage, keysOf, type LateMessage } from './fold-message.ts'
import { outgoing, type Outgoing } from './outgoing.ts'
import { floorIn, FLOOR_KEY, partitionState, type PartitionState } from './partition-state.ts'
import { failedBy, type Failed, type Ready } from './prepare-batch.ts'
import type { StreamCalls } from './stream-calls.ts'
import type { StreamPlan } from './stream-plan.ts'

export interface Portion {
  /** Messages from the head that are in it. */
  readonly taken: number
  readonly state: PartitionState
  readonly out: Outgoing
  readonly late: readonly LateMessage[]
  readonly closed: number
  readonly failed: Failed | null
  /** The gate is closed before the next message. */
  readonly gated: boolean
  /** What closing a window threw: it stays open, and is tried again. */
  readonly closeError: unknown
}

export interface PortionParts {
  readonly plan: StreamPlan
  readonly calls: StreamCalls
  readonly queryId: number
}

const KEYS_PER_PORTION = 4_000

interface Try {
  readonly messages: readonly Ready[]
  readonly close: boolean
}

type Tried =
  | { readonly done: Portion }
  | { readonly again: Try; readonly failed?: Failed; readonly gated?: true; readonly closeError?: unknown }

async function tryFold({ plan, calls, queryId }: PortionParts, { messages, close }: Try): Promise<Tried> {
  const partitionId = messages[0]?.delivery.partitionId ?? ''
  const partition = messages[0]?.delivery.partition ?? ''
  const state = partitionState(calls, { queryId, partitionId })
  const out = outgoing(plan)
  const late: LateMessage[] = []
  if (messages.length > 0 && plan.window?.kind === 'fixed') await state.need([FLOOR_KEY])
  const known = floorIn(state)
  const keys = new Set<string>()
  let fitting = 0
  for (const { items } of messages) {
    for (const key of keysOf(plan, items, known)) keys.add(key)
    if (fitting > 0 && keys.size > KEYS_PER_PORTION) break
    fitting += 1
  }
  await state.need(keys)
  let taken = 0
  for (const ready of messages.slice(0, fitting)) {
    if (out.full) break
    try {
      if (!(await foldMessage({ plan, state, out, late: (message) => late.push(message) }, ready))) {
        return { again: { messages: messages.slice(0, taken), close }, gated: true }
      }
    } catch (error) {
      return { again: { messages: messages.slice(0, taken), close }, failed: failedBy(ready.delivery, error) }
    }
    taken += 1
  }
  const rest = { failed: null, gated: false, closeError: undefined }
  const seen = Math.max(...messages.slice(0, taken).map((ready) => ready.seen))
  const floor = Math.max(known, seen - (plan.window?.graceMs ?? 0))
  if (!close || plan.window === null || !Number.isFinite(floor)) {
    return { done: { taken, state, out, late, closed: 0, ...rest } }
  }
  // What does not fit comes with the next batch, or is closed when the partition is read to the end.
  await state.needOver(floor)
  try {
    const { closed } = await closeOver(plan, state, out, partition, floor)
    return { done: { taken, state, out, late, closed, ...rest } }
  } catch (closeError) {
    return { again: { messages, close: false }, closeError }
  }
}

/** Every pass has fewer messages or closes nothing any more, so this ends. */
export async function foldPortion(parts: PortionParts, messages: readonly Ready[]): Promise<Portion> {
  let next: Try = { messages, close: true }
  let failed: Failed | null = null
  let gated = false
  let closeError: unknown
  for (;;) {
    const tried = await tryFold(parts, next)
    if ('done' in tried) {
      // What stands behind the messages of this cycle comes when it is their turn.
      const whole = tried.done.taken === next.messages.length
      return { ...tried.done, failed: whole ? failed : null, gated: whole && gated, closeError }
    }
    if (tried.failed !== undefined) [failed, gated] = [tried.failed, false]
    if (tried.gated === true) [failed, gated] = [null, true]
    closeError ??= tried.closeError
    next = tried.again
  }
}
