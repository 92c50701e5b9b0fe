// A workflow that messages start: the run is submitted in the commit of the ack. A lost commit starts nothing, a message that is
// read again starts nothing more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, Lockstep, queue, workflow } from 'lockstep'
import { z } from 'zod'
import { workshop } from './workshop.ts'

const Event = z.object({ orderId: z.string(), kind: z.string() })
const Events = queue('order-events', Event)
const Order = z.object({ orderId: z.string() })
const ship = action({ name: 'ship', input: Order }, (_ctx, { orderId }) => `shipped ${orderId}`)
const fulfil = workflow({ name: 'fulfil', input: Order }).node('ship', ship, ({ input }) => input)

test('each message starts one run with the commit of its ack, and starts nothing more when it is read again', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  await worker({ workflows: [fulfil] })
  const orders = ['a', 'b', 'c', 'd']
  await lockstep
    .queue(Events)
    .push([
      ...orders.map((orderId) => ({ data: { orderId, kind: 'placed' }, transactionId: orderId })),
      { data: { orderId: 'x', kind: 'seen' }, transactionId: 'x' },
    ])
  const group = lockstep.queue(Events).group('fulfil').subscriptionMode('all').idleMillis(300)
  let reads = 0
  const consume = async (suffix = ''): Promise<number> =>
    (
      await fulfil.startOn(
        group,
        async ({ data }) => {
          reads += 1
          return data.kind === 'placed' ? { orderId: data.orderId + suffix } : undefined
        },
        { tags: ['from-a-message'] },
      )
    ).consumed
  assert.equal(await consume(), 5)
  const runs = async (): Promise<{ run_id: string; input: string; tags: string[] }[]> =>
    (await sql.query("select run_id, input, tags from lockstep.node where workflow = 'fulfil' order by input")).rows
  const started = await runs()
  assert.deepEqual(
    started.map(({ input }) => JSON.parse(input)),
    orders.map((orderId) => ({ orderId })),
  )
  assert.deepEqual(started[0]?.tags, ['from-a-message'])
  for (const { run_id } of started) {
    assert.equal((await lockstep.run(run_id).wait({ timeout: '20s' })).state, 'completed')
  }
  // Read again from the start, once as it was and once with another mapping: the runs that stand are found.
  for (const suffix of ['', '!']) {
    await lockstep.queue(Events).group('fulfil').seek('start')
    assert.equal(await consume(suffix), 5)
  }
  assert.equal(reads, 15)
  assert.deepEqual(await runs(), started)
})

test('a message whose lease is lost before the commit starts nothing, and its redelivery starts it once', async (t) => {
  const { lockstep, sql } = await workshop(t)
  await lockstep.queue('orders', Order).push({ data: { orderId: 'o' } })
  const seen: number[] = []
  const consuming = fulfil.startOn(
    lockstep.queue('orders', Order).group('g').subscriptionMode('all').limit(1),
    async ({ data }) => {
      const open = await sql.query('select 1 from lockstep.node')
      seen.push(open.rowCount ?? 0)
      if (seen.length === 1)
        await sql.query("update lockstep.lane set lease_expires_at = now() - interval '1 second', available_at = now()")
      return data
    },
  )
  assert.equal((await consuming).consumed, 1)
  assert.deepEqual(seen, [0, 0])
  assert.equal((await sql.query("select 1 from lockstep.node where workflow = 'fulfil'")).rowCount, 1)
})

test('data that the workflow refuses is dead-lettered with the path, and neighbours go on', async (t) => {
  const { lockstep, sql } = await workshop(t)
  await lockstep.queue('orders').config({ retryLimit: 0 }).create()
  await lockstep.queue('orders').push([{ data: { orderId: 7 } }, { data: { orderId: 'o' } }])
  const result = await fulfil.startOn(
    lockstep.queue<{ orderId: string }>('orders').group('g').subscriptionMode('all').limit(2),
  )
  assert.equal(result.consumed, 2)
  const { rows } = await sql.query<{ error: string }>('select error from lockstep.dead_letter')
  assert.match(rows[0]?.error ?? '', /workflow 'fulfil': input\.orderId/)
  assert.equal((await sql.query("select 1 from lockstep.node where workflow = 'fulfil'")).rowCount, 1)
})

test('types: the data must be an input or be mapped to one, and the client must reach PostgreSQL', () => {
  const far = new Lockstep({ url: 'http://127.0.0.1:1' })
  const near = new Lockstep({ connectionString: 'postgres://127.0.0.1:1/none' })
  const written = (): unknown[] => [
    // @ts-expect-error through a broker a step is no transaction of ours
    fulfil.startOn(far.queue('orders', Order)),
    // @ts-expect-error the data is no input
    fulfil.startOn(near.queue('numbers', z.number())),
    fulfil.startOn(near.queue('numbers', z.number()), ({ data }) => ({ orderId: `${data}` })),
    // @ts-expect-error what it is mapped to is no input
    fulfil.startOn(near.queue('numbers', z.number()), ({ data }) => data),
    ship.startOn(near.queue(Events).group('g')),
  ]
  assert.equal(typeof written, 'function')
})
