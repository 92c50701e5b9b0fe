// The order workflow: paid, shipping, shipped. Each step is one transaction: it acks the event it came from, writes the new
// state only over the version it read, and pushes the next event. A repeated event, a second worker or a late event can
// therefore never move an order twice or backwards, and no step is ever half done.

import type { CommitResult, ConsumeResult, Lockstep, Message } from 'lockstep'

export type OrderStatus = 'paid' | 'shipping' | 'shipped'

export interface Order {
  readonly status: OrderStatus
}

export interface OrderEvent {
  readonly orderId: string
}

export interface Move {
  /** The namespace of the orders' state. */
  readonly orders: string
  readonly from: OrderStatus
  readonly to: OrderStatus
  /** The queue whose events cause this move, and the group that does it. */
  readonly queue: string
  readonly group: string
  /** Where the next event goes. */
  readonly next: string
}

/** One order workflow, under names of its own. */
export interface Workflow {
  readonly ship: Move
  readonly deliver: Move
}

/** `prefix` keeps its names apart from those of everybody else in the database. */
export function workflowNamed(prefix: string): Workflow {
  const [events, shipping, shipped] = [`${prefix}-order-events`, `${prefix}-shipping`, `${prefix}-order-shipped`]
  const orders = `${prefix}-orders`
  return {
    ship: { orders, queue: events, group: `${prefix}-workflow`, from: 'paid', to: 'shipping', next: shipping },
    deliver: { orders, queue: shipping, group: `${prefix}-courier`, from: 'shipping', to: 'shipped', next: shipped },
  }
}

/** The state and its first event begin together; an order that is known already stays as it is. */
export async function placeOrder(lockstep: Lockstep, { ship }: Workflow, orderId: string): Promise<CommitResult> {
  return await lockstep
    .transaction()
    .kv.putIfAbsent(ship.orders, orderId, { status: 'paid' } satisfies Order, { ttl: '30d', required: true })
    .queue(ship.queue)
    .partition(orderId)
    .push({ transactionId: `paid-${orderId}`, data: { orderId } satisfies OrderEvent })
    .commit()
}

/** What became of an event: `moved` the order, found it `settled` already, or `lost` against another worker. */
export type Outcome = 'moved' | 'settled' | 'lost'

/** Handles one event. */
export async function moveOrder(lockstep: Lockstep, message: Message<OrderEvent>, move: Move): Promise<Outcome> {
  const { orderId } = message.data
  const order = await lockstep.kv.get<Order>(move.orders, orderId)
  if (!order.found || order.value.status !== move.from) {
    await lockstep.ack(message, 'completed')
    return 'settled'
  }

  // The work of the step belongs here: book the courier, print the label. It may run twice, so it takes an idempotency key.

  const result = await commitMove(lockstep, message, move, order.version)
  // Nothing was written. The consumer hands the event back at once, and the next look finds the order moved.
  return result.success ? 'moved' : 'lost'
}

/** The one commit of a step, from the version that was read. */
export async function commitMove(
  lockstep: Lockstep,
  message: Message<OrderEvent>,
  move: Move,
  version: number,
): Promise<CommitResult> {
  const { orderId } = message.data
  return await lockstep
    .transaction()
    .ack(message, 'completed')
    .kv.put(move.orders, orderId, { status: move.to } satisfies Order, { ttl: '30d', expect: version, required: true })
    .queue(move.next)
    .partition(orderId)
    .push({ transactionId: `${move.to}-${orderId}`, data: { orderId } satisfies OrderEvent })
    .commit()
}

/** A worker for one move, until the signal; two messages of different orders at a time. */
export async function runWorker(lockstep: Lockstep, move: Move, signal: AbortSignal): Promise<ConsumeResult> {
  return await lockstep
    .queue<OrderEvent>(move.queue)
    .group(move.group)
    .subscriptionMode('all')
    .autoAck(false)
    .concurrency(2)
    .each()
    .consume((message) => moveOrder(lockstep, message, move), { signal })
}
