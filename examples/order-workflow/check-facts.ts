// Runs orders through the workflow and verifies what it promises, one sentence per fact. Every number is read back from the
// server; a fact that does not hold ends the run with what was expected and what was found.

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Lockstep, Message } from 'lockstep'
import {
  commitMove,
  moveOrder,
  type Order,
  type OrderEvent,
  type OrderStatus,
  placeOrder,
  runWorker,
  type Workflow,
  workflowNamed,
} from './order-workflow.ts'

interface Run {
  readonly lockstep: Lockstep
  readonly mark: string
  readonly workflow: Workflow
  readonly say: (fact: string) => void
  /** Events counted so far, by queue and order. */
  readonly seen: Map<string, number>
}

/** `mark` makes the orders of this run distinct from those of earlier ones; `say` gets each fact once it is verified. */
export async function checkFacts(lockstep: Lockstep, mark: string, say: (fact: string) => void): Promise<void> {
  const workflow = workflowNamed(`demo-${mark}`)
  const run: Run = { lockstep, mark, workflow, say, seen: new Map() }
  try {
    await check(run)
  } finally {
    await remove(run)
  }
}

async function check(run: Run): Promise<void> {
  const { lockstep, workflow } = run
  await deliveredOnce(run)
  const workers = new AbortController()
  const done = [workflow.ship, workflow.deliver].map((move) => runWorker(lockstep, move, workers.signal))
  try {
    await redelivered(run)
    await late(run)
  } finally {
    workers.abort()
    await Promise.all(done)
  }
  await racing(run)
  await repeated(run)
  await crashed(run)
  await finished(run)
}

/** Leaves nothing of this run behind: its queues with their groups, and its orders. */
async function remove({ lockstep, workflow }: Run): Promise<void> {
  const { ship, deliver } = workflow
  for (const queue of [ship.queue, deliver.queue, deliver.next]) await lockstep.queue(queue).delete()
  const { entries } = await lockstep.kv.getPrefix(ship.orders, 'order-', { limit: 1_000, keysOnly: true })
  for (const { key } of entries) await lockstep.kv.delete(ship.orders, key)
}

async function deliveredOnce(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const orders = Array.from({ length: 8 }, (_, index) => `order-${mark}-${index + 1}`)
  for (const order of orders) assert.equal((await placeOrder(lockstep, run.workflow, order)).success, true)
  say(`${orders.length} orders placed, each with its state and its first event in one commit`)

  const again = await placeOrder(lockstep, run.workflow, orders[0] ?? '')
  assert.equal(again.success ? 'placed' : again.reason, 'kv_precondition')
  say('an order placed twice is refused, and its event is not sent again')

  const workers = new AbortController()
  const done = [run.workflow.ship, run.workflow.ship, run.workflow.deliver, run.workflow.deliver].map((move) =>
    runWorker(lockstep, move, workers.signal),
  )
  try {
    for (const order of orders) await reached(run, order, 'shipped')
  } finally {
    workers.abort()
    await Promise.all(done)
  }
  say('four workers moved every order: paid → shipping → shipped')
  for (const order of orders) {
    assert.equal(await countEvents(run, run.workflow.ship.next, order), 1)
    assert.equal(await countEvents(run, run.workflow.deliver.next, order), 1)
  }
  say('each order caused exactly one shipping event and one shipped event')
}

async function redelivered(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const order = `order-${mark}-redelivered`
  await placeOrder(lockstep, run.workflow, order)
  await reached(run, order, 'shipped')
  const version = await versionOf(run, order)
  const events = lockstep.queue<OrderEvent>(run.workflow.ship.queue).partition(order)
  const [repeat] = await events.push({ transactionId: `paid-${order}`, data: { orderId: order } })
  assert.equal(repeat?.status, 'duplicate')
  say('the same event sent again is known by its id and not stored')

  await events.push({ transactionId: `paid-again-${order}`, data: { orderId: order } })
  await consumed(run, run.workflow.ship.queue, order, 2)
  assert.equal(await versionOf(run, order), version)
  assert.equal(await countEvents(run, run.workflow.ship.next, order), 1)
  say('the event redelivered under another id is acked and moves nothing: still one shipping event')
}

async function late(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const order = `order-${mark}-late`
  await placeOrder(lockstep, run.workflow, order)
  await reached(run, order, 'shipped')
  await lockstep
    .queue<OrderEvent>(run.workflow.deliver.queue)
    .partition(order)
    .push({ transactionId: `late-${order}`, data: { orderId: order } })
  await lockstep
    .queue<OrderEvent>(run.workflow.ship.queue)
    .partition(order)
    .push({ transactionId: `late-${order}`, data: { orderId: order } })
  await consumed(run, run.workflow.deliver.queue, order, 2)
  await consumed(run, run.workflow.ship.queue, order, 2)
  assert.equal(await statusOf(run, order), 'shipped')
  assert.equal(await countEvents(run, run.workflow.deliver.next, order), 1)
  say('events that arrive late find the order shipped and never move it backwards')
}

/** Two events of one order on two partitions, so that two workers can hold one each. */
async function racing(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const order = `order-${mark}-raced`
  await placeOrder(lockstep, run.workflow, order)
  await lockstep
    .queue<OrderEvent>(run.workflow.ship.queue)
    .partition(`${order}-twin`)
    .push({ transactionId: `twin-${order}`, data: { orderId: order } })
  const [one, other] = await Promise.all([lease(run, order), lease(run, `${order}-twin`)])
  const read = await versionOf(run, order)
  const results = await Promise.all(
    [one, other].map((message) => commitMove(lockstep, message, run.workflow.ship, read)),
  )
  const loser = results.findIndex((result) => !result.success)
  const lost = results[loser]
  assert.equal(results.filter((result) => result.success).length, 1)
  assert.ok(lost !== undefined && !lost.success && lost.reason === 'kv_precondition')
  assert.deepEqual(lost.value, { status: 'shipping' })
  assert.equal(lost.version, await versionOf(run, order))
  assert.equal(await countEvents(run, run.workflow.ship.next, order), 1)
  say(
    'two workers raced with one order: one committed, the other was answered with the winner’s state and wrote nothing',
  )

  const outcome = await moveOrder(lockstep, loser === 0 ? one : other, run.workflow.ship)
  assert.equal(outcome, 'settled')
  say('the loser looked again, found the order moved, and acked its event')
}

/** The answer of a commit is lost on its way, and the client sends it again. */
async function repeated(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const order = `order-${mark}-repeated`
  await placeOrder(lockstep, run.workflow, order)
  const message = await lease(run, order)
  const version = await versionOf(run, order)
  const step = lockstep
    .transaction()
    .ack(message, 'completed')
    .kv.put(run.workflow.ship.orders, order, { status: 'shipping' } satisfies Order, {
      ttl: '30d',
      expect: version,
      required: true,
    })
    .queue(run.workflow.ship.next)
    .partition(order)
    .push({ transactionId: `shipping-${order}`, data: { orderId: order } satisfies OrderEvent })
  const first = await step.commit({ requestId: `step-${order}` })
  const second = await step.commit({ requestId: `step-${order}` })
  assert.equal(first.success, true)
  assert.deepEqual(second, first)
  const moved = await versionOf(run, order)
  say('a commit sent twice under one request id is applied once and answered twice the same')

  const stale = await commitMove(lockstep, message, run.workflow.ship, version)
  assert.ok(!stale.success && stale.reason === 'kv_precondition')
  assert.equal(stale.version, moved)
  assert.equal(await versionOf(run, order), moved)
  assert.equal(await countEvents(run, run.workflow.ship.next, order), 1)
  say('the step sent again from the old version rolls back whole: still one shipping event')
}

async function crashed(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const order = `order-${mark}-crashed`
  await placeOrder(lockstep, run.workflow, order)
  const dead = await lease(run, order, 1)
  const next = await lease(run, order)
  assert.equal(next.transactionId, dead.transactionId)
  assert.equal(next.deliveryAttempt, 2)
  say('a worker that died holds its event for its lease of one second; then another gets it, as the second delivery')

  assert.equal(await moveOrder(lockstep, next, run.workflow.ship), 'moved')
  const zombie = await commitMove(lockstep, dead, run.workflow.ship, await versionOf(run, order))
  assert.ok(!zombie.success)
  assert.equal(await statusOf(run, order), 'shipping')
  assert.equal(await countEvents(run, run.workflow.ship.next, order), 1)
  say(`the dead worker’s late commit is refused (${zombie.reason}): its lease is another’s now`)
}

/** What the workers of the checks above left half-way is worked off as usual. */
async function finished(run: Run): Promise<void> {
  const { lockstep, mark, say } = run
  const workers = new AbortController()
  const done = runWorker(lockstep, run.workflow.deliver, workers.signal)
  try {
    for (const name of ['raced', 'repeated', 'crashed']) await reached(run, `order-${mark}-${name}`, 'shipped')
  } finally {
    workers.abort()
    await done
  }
  say('in the end every order of this run is shipped')
}

/** Leases the next event of a partition as the workflow does, waiting for it if it must. */
async function lease({ lockstep, workflow }: Run, partition: string, seconds?: number): Promise<Message<OrderEvent>> {
  const queue = lockstep
    .queue<OrderEvent>(workflow.ship.queue)
    .partition(partition)
    .group(workflow.ship.group)
    .subscriptionMode('all')
  const [message] = await (seconds === undefined ? queue : queue.leaseSeconds(seconds)).batch(1).wait(true).pop()
  assert.ok(message !== undefined, `no event in partition ${partition}`)
  return message
}

async function reached(run: Run, order: string, status: OrderStatus): Promise<void> {
  await until(`${order} to be ${status}`, async () => (await statusOf(run, order)) === status)
}

/** Waits until the group of that queue has finished so many events of the order: the next one it gets is none. */
async function consumed(run: Run, queue: string, order: string, events: number): Promise<void> {
  const { lockstep } = run
  const move = queue === run.workflow.ship.queue ? run.workflow.ship : run.workflow.deliver
  const probe = `probe-${order}`
  assert.equal(await countEvents(run, queue, order), events)
  // Order is kept within a partition: when an event pushed now has been worked on, so were those before it.
  await lockstep.kv.put(run.workflow.ship.orders, probe, { status: move.from } satisfies Order, { ttl: '1h' })
  await lockstep
    .queue<OrderEvent>(queue)
    .partition(order)
    .push({ transactionId: probe, data: { orderId: probe } })
  await until(`${order} to be through ${queue}`, async () => (await statusOf(run, probe)) !== move.from)
  await lockstep.kv.delete(run.workflow.ship.orders, probe)
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited 30 s for ${what}`)
    await pause(20)
  }
}

async function statusOf(run: Run, order: string): Promise<OrderStatus | undefined> {
  return (await run.lockstep.kv.get<Order>(run.workflow.ship.orders, order)).value?.status
}

async function versionOf(run: Run, order: string): Promise<number> {
  return (await run.lockstep.kv.get<Order>(run.workflow.ship.orders, order)).version
}

/** How many events of the order a group of our own has seen in its partition; it reads from the oldest and acks as it goes. */
async function countEvents({ lockstep, mark, seen }: Run, queue: string, order: string): Promise<number> {
  const place = `${queue}/${order}`
  const audit = lockstep.queue<OrderEvent>(queue).partition(order).group(`audit-${mark}`).subscriptionMode('all')
  const messages = await audit.autoAck(true).batch(100).pop()
  const count = (seen.get(place) ?? 0) + messages.filter((message) => message.data.orderId === order).length
  seen.set(place, count)
  return count
}
