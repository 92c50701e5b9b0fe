// Which calls of an ack may be named as batches, and how they are flattened. It sends nothing and judges nothing.
import type { AckItem } from '../protocol/message.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'
import { ackLine } from './ack-lines.ts'

type Call = readonly AckItem[]

/** Below this there is nothing to save. */
const BATCH = 4

/** Between the ids of a batch; one that holds it is named by itself. An array in an array would be read twice over there. */
const BETWEEN = '\n'

/** Places of the calls that only complete messages of one lane, by their ids, under one lease; a lane at most once. */
export function wholeBatches(calls: readonly Call[]): readonly number[] {
  const lanes = new Set<string>()
  const found: number[] = []
  for (const [at, call] of calls.entries()) {
    const whole = isWhole(call)
    // Of a whole one all items name the same lane.
    const named = whole ? call.slice(0, 1) : call
    const before = named.some((item) => lanes.has(laneOf(item)))
    for (const item of named) lanes.add(laneOf(item))
    // Batches are carried out before items: one that follows another call on its lane stays in its place.
    if (whole && !before) found.push(at)
  }
  return found
}

function isWhole(call: Call): boolean {
  const [first] = call
  if (first === undefined || call.length < BATCH || first.leaseId === null) return false
  if (parsePartitionId(first.partitionId) === null) return false
  return call.every(
    (item) =>
      item.status === 'completed' &&
      item.offset === null &&
      item.transactionId?.includes(BETWEEN) === false &&
      item.leaseId === first.leaseId &&
      item.partitionId === first.partitionId &&
      item.group === first.group,
  )
}

function laneOf(item: AckItem): string {
  return `${item.partitionId}\0${item.group}`
}

/** Parallel arrays: call, queue id, partition id, group, lease, number of ids, the ids as one text. */
export function batchLines(
  calls: readonly Call[],
  batches: readonly number[],
): readonly (readonly (string | null)[])[] {
  const columns: (string | null)[][] = Array.from({ length: 7 }, () => [])
  for (const at of batches) {
    const call = calls[at] ?? []
    const line = call[0] === undefined ? null : ackLine(call[0])
    if (line === null) continue
    const [queueId = null, partitionId = null, group = null, leaseId = null] = line
    const ids = call.map((item) => item.transactionId).join(BETWEEN)
    const values = [String(at), queueId, partitionId, group, leaseId, String(call.length), ids]
    for (const [index, value] of values.entries()) {
      columns[index]?.push(value)
    }
  }
  return columns
}
