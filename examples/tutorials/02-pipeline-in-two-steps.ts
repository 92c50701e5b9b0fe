// Tutorial 2 of 5: a pipeline in two steps. One consumer makes invoices of orders, the next one sends them. Between the push of
// the invoice and the ack of the order lies a gap: a crash there repeats the push. Deterministic transaction ids close it
// for the messages; tutorial 3 closes it for everything.
import { tutorial } from './tutorial.ts'

await tutorial('2. A pipeline in two steps', async ({ lockstep, named, check }) => {
  const orders = lockstep.queue<{ orderId: string; total: number }>(named('orders'))
  const invoices = lockstep.queue<{ invoiceId: string; amount: number }>(named('invoices'))

  await orders.push([
    { data: { orderId: 'A-1', total: 120.5 } },
    { data: { orderId: 'B-1', total: 88.75 } },
    { data: { orderId: 'C-1', total: 310 } },
  ])

  // Step one. Once, the handler fails after its push: the order comes back and the push is repeated.
  let failed = false
  let attempts = 0
  await orders
    .group(named('invoicing'))
    .subscriptionMode('all')
    .each()
    .limit(3)
    .consume(async (message) => {
      attempts += 1
      const { orderId, total } = message.data
      await invoices.push({ transactionId: `invoice-${orderId}`, data: { invoiceId: `INV-${orderId}`, amount: total } })
      if (orderId === 'B-1' && !failed) {
        failed = true
        throw new Error('the process failed between push and ack')
      }
    })
  check(attempts === 4, 'the order whose handler failed was delivered again')

  // Step two.
  const sent: { invoiceId: string; amount: number }[] = []
  const result = await invoices
    .group(named('sending'))
    .subscriptionMode('all')
    .each()
    .idleMillis(1_500)
    .consume(async (message) => {
      sent.push(message.data)
    })
  check(result.reason === 'idle', 'the second step ended when nothing more came')
  check(
    sent.map((invoice) => invoice.invoiceId).join() === 'INV-A-1,INV-B-1,INV-C-1',
    'one invoice for each order, in order',
  )
  check(sent.reduce((sum, invoice) => sum + invoice.amount, 0) === 519.25, 'the amounts are whole')

  await orders.delete()
  await invoices.delete()
})
