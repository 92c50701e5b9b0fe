// Folds one message into the state of its partition: the gate first, then the aggregate, running or by window. What it gives at once
// goes out; what belongs to a window waits for its end.
import type { Outgoing } from './outgoing.ts'
import {
  asWindow,
  floorIn,
  gateKey,
  pastSessionKey,
  runningKey,
  sessionKey,
  windowKey,
  type PartitionState,
} from './partition-state.ts'
import type { Item, Ready } from './prepare-batch.ts'
import type { Folding, StreamPlan } from './stream-plan.ts'
import { startsOf, type WindowPlan } from './windows.ts'

/** A message whose windows are closed already. */
export interface LateMessage {
  readonly value: unknown
  readonly key: string
  readonly partition: string
  readonly offset: number
  /** ISO-8601 UTC: when it happened. */
  readonly time: string
  /** It was left out; otherwise it counts in the window that is open. */
  readonly dropped: boolean
}

export interface FoldParts {
  readonly plan: StreamPlan
  readonly state: PartitionState
  readonly out: Outgoing
  readonly late: (message: LateMessage) => void
}

/** The windows that still take the item. None: it is late, and left out. */
function placesOf(window: WindowPlan, time: number, floor: number): { starts: readonly number[]; late: boolean } {
  const open = (starts: readonly number[]): readonly number[] => starts.filter((start) => start + window.sizeMs > floor)
  const starts = open(startsOf(window, time))
  if (starts.length > 0) return { starts, late: false }
  return { starts: window.late === 'drop' ? [] : open(startsOf(window, floor)), late: true }
}

/** The keys of the state that these messages need; the floor has to be known. */
export function keysOf(
  { gate, folding, window }: StreamPlan,
  items: readonly Item[],
  floor: number,
): readonly string[] {
  return items.flatMap(({ key, time }) => {
    const gated = gate === null ? [] : [gateKey(key)]
    if (folding === null) return gated
    if (window === null) return [...gated, runningKey(key)]
    if (window.kind === 'session') return [...gated, sessionKey(key)]
    return [...gated, ...placesOf(window, time, floor).starts.map((start) => windowKey(start, key))]
  })
}

async function passes({ plan: { gate }, state }: FoldParts, item: Item, { at }: Ready): Promise<boolean> {
  if (gate === null) return true
  const known: unknown = state.get(gateKey(item.key))
  const before: unknown = typeof known === 'object' && known !== null ? Reflect.get(known, 'state') : gate.initial
  const next: unknown = await gate.decide(before, item.value, { ...at, key: item.key })
  if (next === false) return false
  if (next !== true && next !== undefined) state.set(gateKey(item.key), { state: next })
  return true
}

async function foldRunning({ state, out }: FoldParts, folding: Folding, item: Item, { at }: Ready): Promise<void> {
  const { key, value } = item
  const known: unknown = state.get(runningKey(key))
  const before: unknown = typeof known === 'object' && known !== null ? Reflect.get(known, 'acc') : folding.start()
  const acc = folding.add(before, value, at)
  state.set(runningKey(key), { acc })
  await out.add({ key, ...folding.result(acc) }, { partition: at.partition, key })
}

function tellLate({ late }: FoldParts, { key, value, time }: Item, { at }: Ready, dropped: boolean): void {
  late({ value, key, partition: at.partition, offset: at.offset, time: new Date(time).toISOString(), dropped })
}

function foldFixed(parts: FoldParts, folding: Folding, window: WindowPlan, item: Item, ready: Ready): void {
  const { state } = parts
  const { key, value, time } = item
  const { starts, late } = placesOf(window, time, floorIn(state))
  if (late) tellLate(parts, item, ready, starts.length === 0)
  for (const windowStart of starts) {
    const at = windowKey(windowStart, key)
    const row = asWindow(state.get(at))
    const acc = folding.add(row === null ? folding.start() : row.acc, value, ready.at)
    state.set(at, { windowStart, windowEnd: windowStart + window.sizeMs, key, acc })
  }
}

function foldSession(parts: FoldParts, folding: Folding, window: WindowPlan, item: Item, ready: Ready): void {
  const { state } = parts
  const { key, value, time } = item
  const at = sessionKey(key)
  const row = asWindow(state.get(at))
  const early = row !== null && time + window.sizeMs < row.windowStart
  if (early) tellLate(parts, item, ready, window.late === 'drop')
  if (early && window.late === 'drop') return
  const goesOn = row !== null && time <= row.windowEnd
  if (row !== null && !goesOn) state.set(pastSessionKey(row.windowStart, key), row)
  state.set(at, {
    windowStart: goesOn ? Math.min(row.windowStart, early ? row.windowStart : time) : time,
    windowEnd: goesOn ? Math.max(row.windowEnd, time + window.sizeMs) : time + window.sizeMs,
    key,
    acc: folding.add(goesOn ? row.acc : folding.start(), value, ready.at),
  })
}

/** False: the gate is closed before it, and the state is of no use. Throws what the plan's functions throw. */
export async function foldMessage(parts: FoldParts, ready: Ready): Promise<boolean> {
  const { folding, window } = parts.plan
  for (const item of ready.items) {
    if (!(await passes(parts, item, ready))) return false
    if (folding === null) await parts.out.add(item.value, { partition: ready.at.partition, key: item.key })
    else if (window === null) await foldRunning(parts, folding, item, ready)
    else if (window.kind === 'fixed') foldFixed(parts, folding, window, item, ready)
    else foldSession(parts, folding, window, item, ready)
  }
  return true
}
