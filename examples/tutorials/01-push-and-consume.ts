// Tutorial 1 of 5: push and consume. Messages of one partition come in the order they were pushed; a group keeps its place, so
// each message reaches a handler of the group once, and a handler that returns has completed its message.
import { tutorial } from './tutorial.ts'

await tutorial('1. Push and consume', async ({ lockstep, named, check }) => {
  const orders = lockstep.queue(named('orders'))

  // A partition is made by its first push. All orders of one customer share one, so they stay in order.
  const pushed = [
    ...(await orders.partition('acme').push([{ data: { orderId: 'A-1' } }, { data: { orderId: 'A-2' } }])),
    ...(await orders.partition('globex').push({ transactionId: 'order-B-1', data: { orderId: 'B-1' } })),
  ]
  check(
    pushed.every((outcome) => outcome.status === 'queued'),
    'three orders were stored',
  )

  // The same transaction id in the same partition is the same message: a retried push is no second order.
  const [again] = await orders.partition('globex').push({ transactionId: 'order-B-1', data: { orderId: 'B-1' } })
  check(again?.status === 'duplicate', 'the push that was repeated is told apart')

  // `all` begins at the oldest message; a group that says nothing begins at what comes from now on.
  const seen: string[] = []
  const result = await orders
    .group(named('billing'))
    .subscriptionMode('all')
    .each()
    .limit(3)
    .idleMillis(5_000)
    .consume(async (message) => {
      seen.push(message.data.orderId)
    })
  check(result.consumed === 3 && result.reason === 'limit', 'three orders were consumed')
  check(seen.toSorted().join() === 'A-1,A-2,B-1', 'each order once')
  check(seen.indexOf('A-1') < seen.indexOf('A-2'), "a customer's orders in their order")

  const rest = await orders.group(named('billing')).partitions(10).pop()
  check(rest.length === 0, 'nothing is left for this group')
  const others = await orders.group(named('audit')).subscriptionMode('all').partitions(10).pop()
  check(others.length === 3, 'another group has a place of its own')

  await orders.delete()
})
