// Tutorial 3 of 5: ack and push in one transaction. The acknowledgement of the input and the push of the output commit together
// or not at all, so there is no moment at which a crash doubles or loses an invoice. `autoAck(false)` leaves the ack to the
// transaction; group and lease are read off the message.
import { tutorial } from './tutorial.ts'

await tutorial('3. Ack and push in one transaction', async ({ lockstep, named, check }) => {
  const orders = named('orders')
  const invoices = named('invoices')
  const group = named('invoicing')
  const input = [
    { orderId: 'A-1', customer: 'acme', total: 120.5 },
    { orderId: 'B-1', customer: 'globex', total: 88.75 },
    { orderId: 'C-1', customer: 'initech', total: 310 },
  ]
  for (const order of input) await lockstep.queue(orders).partition(order.customer).push({ data: order })

  const invoiced: string[] = []
  await lockstep
    .queue(orders)
    .group(group)
    .subscriptionMode('all')
    .each()
    .autoAck(false)
    .limit(input.length)
    .idleMillis(5_000)
    .consume(async (message) => {
      const { orderId, customer, total } = message.data
      const result = await lockstep
        .transaction()
        .queue(invoices)
        .partition(customer)
        .push([{ data: { invoiceId: `INV-${orderId}`, orderId, amount: total } }])
        .ack(message, 'completed', { consumerGroup: group })
        .commit()
      // A rollback is an answer: nothing was written, and the loop hands the message back.
      if (!result.success) return
      invoiced.push(orderId)
    })
  check(invoiced.length === input.length, 'every order was invoiced once')

  // One partition per customer: partitions(10) lets one pop claim several of them. It answers with what it can have at once,
  // so that three invoices may take more than one pop.
  const reader = lockstep.queue(invoices).batch(10).partitions(10)
  const made = await reader.wait(true).pop()
  for (let more = made.length; more > 0 && made.length < input.length;) {
    const next = await reader.wait(true).pop()
    more = next.length
    made.push(...next)
  }
  made.push(...(await reader.wait(false).pop()))
  check(made.length === input.length, 'three invoices exist')
  check(
    made
      .map((message) => String(message.data.orderId))
      .toSorted()
      .join() === 'A-1,B-1,C-1',
    'each of its own order, none doubled',
  )

  const leftovers = await lockstep.queue(orders).group(group).batch(10).partitions(10).wait(false).pop()
  check(leftovers.length === 0, 'the orders are done for this group')

  // A lease that was lost cannot commit: what a slow worker still holds changes nothing.
  await lockstep
    .queue(orders)
    .partition('late')
    .push({ data: { orderId: 'L-1' } })
  const [late] = await lockstep.queue(orders).partition('late').group(group).pop()
  if (late === undefined) throw new Error('the late order was not delivered')
  await lockstep.queue(orders).group(group).seek('end')
  const refused = await lockstep.transaction().ack(late).queue(invoices).partition('late').push({ data: {} }).commit()
  check(!refused.success, 'a step without its lease is refused whole')
  check((await lockstep.queue(invoices).partition('late').pop()).length === 0, 'and its push is nowhere')

  await lockstep.queue(orders).delete()
  await lockstep.queue(invoices).delete()
})
