// A user's own file, as his compiler sees it: strict, his own `lib`, every declaration of the package checked too. It is compiled
// by user-project.test.ts and never run.
import { Lockstep, queue, type CommitResult } from 'lockstep'

export interface Order {
  readonly orderId: string
}

export async function workflow(url: string): Promise<void> {
  const queen = new Lockstep({ url })
  await queen
    .queue('order-events')
    .group('workflow')
    .subscriptionMode('all')
    .autoAck(false)
    .each()
    .consume(async (msg) => {
      const { orderId } = msg.data
      const order = await queen.kv.get('orders', orderId)
      if (order.value.status !== 'paid') {
        return queen.ack(msg, 'completed', { group: 'workflow' })
      }
      const result: CommitResult = await queen
        .transaction()
        .ack(msg, 'completed', { consumerGroup: 'workflow' })
        .kv.put('orders', orderId, { status: 'shipping' }, { ttl: '30d', expect: order.version, required: true })
        .queue('shipping')
        .partition(orderId)
        .push([{ transactionId: `ship-${orderId}`, data: { orderId } }])
        .commit()
      return result.success
    })
  await queen.queue<Order>('orders').push({ data: { orderId: 'o-1' } })
  await queen.queue(queue('plain')).delete()
  await queen.close()
}
