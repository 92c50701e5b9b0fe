// The messages of one pop, partition by partition: within one they are worked on in order, and what happens to its lease
// happens to all that is left of it.
import type { AckItem, AckStatus, Delivery } from '../../protocol/message.ts'
import { LIMITS } from '../../protocol/limits.ts'

export interface LaneBatch {
  readonly deliveries: readonly Delivery[]
  /** Aborted when the lease of this partition is lost. */
  readonly lost: AbortController
}

export function laneBatches(deliveries: readonly Delivery[]): readonly LaneBatch[] {
  const lanes = new Map<string, Delivery[]>()
  for (const delivery of deliveries) {
    const lane = lanes.get(delivery.partitionId)
    if (lane === undefined) lanes.set(delivery.partitionId, [delivery])
    else lane.push(delivery)
  }
  return [...lanes.values()].map((lane) => ({ deliveries: lane, lost: new AbortController() }))
}

/** Error texts are whatever a handler threw: cut at the end where they are long, on a whole character, and without what no text column holds. */
function carried(error: string): string {
  const short = error.slice(0, LIMITS.errorTextBytes / 4)
  const whole = short.length < error.length ? short.replace(/[\uD800-\uDBFF]$/, '') : short
  return whole.replaceAll(/\0|\p{Surrogate}/gu, '\uFFFD')
}

export function ackOf(delivery: Delivery, status: AckStatus, error: string | null = null): AckItem {
  return {
    partitionId: delivery.partitionId,
    transactionId: delivery.transactionId,
    offset: null,
    status,
    error: error === null ? null : carried(error),
    leaseId: delivery.leaseId === '' ? null : delivery.leaseId,
    group: delivery.consumerGroup,
  }
}
