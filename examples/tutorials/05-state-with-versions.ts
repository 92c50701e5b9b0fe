// Tutorial 5 of 5: state with versions. Each key has a version that only rises. A step writes the new state only if the version is
// still the one it read, and acks and pushes in the same commit: two workers, a redelivered event or a late one cannot move
// an order twice or backwards.
import { tutorial } from './tutorial.ts'

await tutorial('5. State with versions', async ({ lockstep, named, check }) => {
  const events = named('order-events')
  const shipping = named('shipping')
  const orderId = named('order')

  const paid = await lockstep.kv.put('orders', orderId, { status: 'paid' }, { ttl: '30d' })
  check(paid.applied, 'the order is paid')

  // The event arrives twice, in two partitions: two workers may hold it at the same time.
  await lockstep.queue(events).partition('a').push({ data: { orderId } })
  await lockstep.queue(events).partition('b').push({ data: { orderId } })

  let moved = 0
  let late = 0
  let lost = 0
  const worker = async (): Promise<void> => {
    await lockstep
      .queue(events)
      .group(named('workflow'))
      .subscriptionMode('all')
      .autoAck(false)
      .each()
      .idleMillis(1_500)
      .consume(async (message) => {
        const order = await lockstep.kv.get('orders', message.data.orderId)
        if (order.value.status !== 'paid') {
          await lockstep.ack(message)
          late += 1
          return
        }
        const result = await lockstep
          .transaction()
          .ack(message)
          .kv.put(
            'orders',
            message.data.orderId,
            { status: 'shipping' },
            { ttl: '30d', expect: order.version, required: true },
          )
          .queue(shipping)
          .partition(message.data.orderId)
          .push([{ transactionId: `ship-${message.data.orderId}`, data: message.data }])
          .commit()
        if (result.success) moved += 1
        else lost += 1
      })
  }
  await Promise.all([worker(), worker()])
  check(moved === 1, 'the order moved once')
  check(late === 1, `the other event found it moved${lost > 0 ? ', after its own commit had lost' : ''}`)
  check((await lockstep.queue(shipping).partition(orderId).pop()).length === 1, 'one shipping event exists')

  const now = await lockstep.kv.get('orders', orderId)
  check(now.value.status === 'shipping' && now.version > paid.version, 'the state is the new one, at a higher version')

  // From the old version nothing is written, and the answer has what stands there now.
  const old = await lockstep.kv.put('orders', orderId, { status: 'paid' }, { ttl: '30d', expect: paid.version })
  check(
    !old.applied && old.value?.status === 'shipping' && old.version === now.version,
    'a write from the old version is lost',
  )

  const hits = []
  for (const delta of [0.1, 0.2])
    hits.push((await lockstep.kv.incr('counters', named('hits'), delta, { ttl: '1h' })).value)
  check(hits.join() === '0.1,0.3', 'counters are exact')

  await lockstep.queue(events).delete()
  await lockstep.queue(shipping).delete()
})
