// Closes the windows of one partition that are over: each gives its result and is forgotten. The floor goes along in the same cycle,
// so that a message which comes later is known to be late and never opens a closed window again.
import type { Outgoing } from './outgoing.ts'
import { FLOOR_KEY, type PartitionState, type WindowRow } from './partition-state.ts'
import type { StreamPlan } from './stream-plan.ts'

export interface Closing {
  readonly closed: number
  /** More is over than one cycle takes. */
  readonly more: boolean
}

const isoText = (ms: number): string => new Date(ms).toISOString()

export function emitted(row: WindowRow, result: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { key: row.key, windowStart: isoText(row.windowStart), windowEnd: isoText(row.windowEnd), ...result }
}

/** `state` has read what is over at `floor`. Throws what an operator throws; the state is of no use then. */
export async function closeOver(
  { folding, window }: StreamPlan,
  state: PartitionState,
  out: Outgoing,
  partition: string,
  floor: number,
): Promise<Closing> {
  if (folding === null || window === null) return { closed: 0, more: false }
  const over = state.over(floor)
  let closed = 0
  for (const [stateKey, row] of over) {
    if (closed > 0 && out.full) break
    await out.add(emitted(row, folding.result(row.acc)), { partition, key: row.key })
    state.delete(stateKey)
    closed += 1
  }
  if (closed > 0 && window.kind === 'fixed') state.set(FLOOR_KEY, { floor })
  return { closed, more: closed < over.length }
}
