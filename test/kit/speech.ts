// Short forms for what tests say to the operations: items, pops, acks, steps, with the dull parts filled in.
import type { PopRequest } from '../../src/operations/pop.ts'
import type { KvOperation } from '../../src/protocol/kv.ts'
import type { AckItem, AckStatus, Delivery, PushItem } from '../../src/protocol/message.ts'
import { mintId } from '../../src/protocol/mint-id.ts'
import type { TimerOperation } from '../../src/protocol/timer.ts'
import type { StepOperation, TransactionRequest } from '../../src/protocol/transaction.ts'

/** `name` is the transaction id and, as JSON, the payload. Null: the broker's own id. */
export function item(queue: string, partition: string, name: string | null, payload?: string): PushItem {
  return {
    queue,
    partition,
    transactionId: name,
    payload: payload ?? JSON.stringify(name),
    traceId: null,
    producerSub: null,
    messageId: mintId(),
  }
}

export function popOf(queue: string, group: string, over: Partial<PopRequest> = {}): PopRequest {
  return {
    queue,
    group,
    partition: null,
    leaseIds: [mintId()],
    batch: 10,
    partitions: 10,
    leaseSeconds: 60,
    autoAck: false,
    start: { mode: 'all' },
    floor: null,
    waitStaged: false,
    ...over,
  }
}

/** Names the message as clients do, by its transaction id. */
export function ackOf(delivery: Delivery, status: AckStatus = 'completed', over: Partial<AckItem> = {}): AckItem {
  return {
    partitionId: delivery.partitionId,
    transactionId: delivery.transactionId,
    offset: null,
    status,
    error: null,
    leaseId: delivery.leaseId,
    group: delivery.consumerGroup,
    ...over,
  }
}

export function stepOf(parts: {
  readonly acks?: readonly AckItem[]
  readonly pushes?: readonly PushItem[]
  readonly kv?: readonly KvOperation[]
  readonly timers?: readonly TimerOperation[]
  readonly requestId?: string
}): TransactionRequest {
  const operations: StepOperation[] = [
    ...(parts.acks ?? []).map((one) => ({ type: 'ack' as const, item: one })),
    ...(parts.pushes ?? []).map((one) => ({ type: 'push' as const, item: one })),
  ]
  return {
    requestId: parts.requestId ?? null,
    bodyHash: parts.requestId === undefined ? null : 'body',
    operations,
    kv: parts.kv ?? [],
    timers: parts.timers ?? [],
  }
}

export function putOf(ns: string, key: string, value: string, expect: number | null = null): KvOperation {
  return { op: 'put', ns, key, value, ttlSeconds: null, expect, required: true }
}

/** Due at once unless said. */
export function scheduleOf(
  queue: string,
  key: string,
  over: Partial<Extract<TimerOperation, { readonly op: 'schedule' }>>,
): TimerOperation {
  const plain = { partition: 'p', delayMs: 0, transactionId: key, payload: '{}', producerSub: null }
  return { op: 'schedule', queue, key, ...plain, messageId: mintId(), ...over }
}

export function cancelOf(queue: string, key: string): TimerOperation {
  return { op: 'cancel', queue, key, transactionId: null }
}
