// A workflow that messages start, and runs submitted in a transaction: both in the commit of the ack, through a broker and straight to
// PostgreSQL. A lost commit starts nothing, a message that is read again starts nothing more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, Lockstep, queue, workflow, type Worker } from 'lockstep'
import { z } from 'zod'
import { onEveryWay, type Case } from './every-way.ts'

const Event = z.object({ orderId: z.string(), kind: z.string() })
const Order = z.object({ orderId: z.string() })
const ship = action({ name: 'ship', input: Order }, (_ctx, { orderId }) => `shipped ${orderId}`)
const fulfil = workflow({ name: 'fulfil', input: Order }).node('ship', ship, ({ input }) => input)

/** A worker that knows the workflow, beside PostgreSQL whatever the way of the case. */
async function working({ connectionString }: Case): Promise<AsyncDisposable & { readonly worker: Worker }> {
  const client = new Lockstep({ connectionString, logger: { warn() {} } })
  const worker = client.worker({ poll: '50ms', workflows: [fulfil] })
  await worker.start()
  return {
    worker,
    async [Symbol.asyncDispose]() {
      await client.close({ timeoutMs: 1_000 })
    },
  }
}

onEveryWay('each message starts one run with its ack, and nothing more when it is read again', async (c) => {
  const { lockstep, named, sql } = c
  await using _working = await working(c)
  const Events = queue(named('events'), Event)
  const orders = ['a', 'b', 'c', 'd'].map(named)
  await lockstep
    .queue(Events)
    .push([
      ...orders.map((orderId) => ({ data: { orderId, kind: 'placed' }, transactionId: orderId })),
      { data: { orderId: 'x', kind: 'seen' }, transactionId: 'x' },
    ])
  const group = lockstep.queue(Events).group('fulfil').subscriptionMode('all').limit(5)
  let reads = 0
  const consume = async (suffix = ''): Promise<number> =>
    (
      await fulfil.startOn(
        group,
        async ({ data }) => {
          reads += 1
          return data.kind === 'placed' ? { orderId: data.orderId + suffix } : undefined
        },
        { tags: [named('from-a-message')] },
      )
    ).consumed
  assert.equal(await consume(), 5)
  const runs = async (): ReturnType<Case['sql']> =>
    sql('select run_id, input from lockstep.node where $1 = any (tags) order by input', [named('from-a-message')])
  const started = await runs()
  assert.deepEqual(
    started.map(({ input }) => JSON.parse(String(input))),
    orders.map((orderId) => ({ orderId })),
  )
  for (const { run_id: runId } of started) {
    assert.equal((await lockstep.run(String(runId)).wait({ timeout: '30s' })).state, 'completed')
  }
  // Read again from the start, once as it was and once with another mapping: the runs that stand are found.
  for (const suffix of ['', '!']) {
    await lockstep.queue(Events).group('fulfil').seek('start')
    assert.equal(await consume(suffix), 5)
  }
  assert.equal(reads, 15)
  assert.deepEqual(await runs(), started)
})

onEveryWay(
  'a message whose lease is lost before the commit starts nothing, and its redelivery starts it once',
  async (c) => {
    const { lockstep, named, sql } = c
    await using _working = await working(c)
    const orders = lockstep.queue(named('orders'), Order)
    await orders.push({ data: { orderId: named('o') } })
    const runs = async (): Promise<number> =>
      (
        await sql("select 1 from lockstep.node where workflow = 'fulfil' and input::jsonb ->> 'orderId' = $1", [
          named('o'),
        ])
      ).length
    const seen: number[] = []
    const { consumed } = await fulfil.startOn(orders.group('g').subscriptionMode('all').limit(1), async ({ data }) => {
      seen.push(await runs())
      if (seen.length === 1) {
        await sql(
          `update lockstep.lane set lease_expires_at = now() - interval '1 second', available_at = now()
          where queue_id = (select id from lockstep.queue where name = $1)`,
          [named('orders')],
        )
      }
      return data
    })
    assert.equal(consumed, 1)
    assert.deepEqual(seen, [0, 0])
    assert.equal(await runs(), 1)
  },
)

onEveryWay('data that the workflow refuses is dead-lettered with the path, and neighbours go on', async (c) => {
  const { lockstep, named, sql } = c
  await using _working = await working(c)
  const name = named('orders')
  await lockstep.queue(name).config({ retryLimit: 0 }).create()
  await lockstep.queue(name).push([{ data: { orderId: 7 } }, { data: { orderId: named('o') } }])
  const { consumed } = await fulfil.startOn(
    lockstep.queue<{ orderId: string }>(name).group('g').subscriptionMode('all').limit(2),
  )
  assert.equal(consumed, 2)
  const { messages: letters } = await lockstep.deadLetters.list({ queue: name })
  assert.match(letters[0]?.error ?? '', /workflow 'fulfil': input\.orderId/)
  const started = "select 1 from lockstep.node where workflow = 'fulfil' and input::jsonb ->> 'orderId' = $1"
  assert.equal((await sql(started, [named('o')])).length, 1)
})

onEveryWay('runs of a transaction are submitted in its commit, once per request id, or not at all', async (c) => {
  const { lockstep, named, sql } = c
  const done = queue(named('done'), z.string())
  const order = { orderId: named('o') }
  const requestId = named('request')
  const step = lockstep
    .transaction()
    .submit(ship, order, { key: named('k') })
    .queue(done)
    .push({ data: 'pushed' })
  const first = await step.commit({ requestId })
  assert.ok(first.success)
  const [pushed, run] = first.results
  assert.equal(pushed?.type, 'push')
  assert.ok(run?.type === 'run' && run.created)
  assert.equal((await lockstep.run(run.runId).status()).workflow, 'ship')

  const known = await lockstep
    .transaction()
    .enqueue(ship, order, { key: named('k') })
    .commit()
  assert.deepEqual(known.success && known.results, [{ type: 'run', runId: run.runId, created: false }])

  // Another input under the key: the push beside it is undone as well.
  const conflict = await lockstep
    .transaction()
    .submit(ship, { orderId: 'another' }, { key: named('k') })
    .queue(done)
    .push({ data: 'never' })
    .commit()
  assert.ok(!conflict.success && conflict.reason === 'run_conflict')
  const lost = await lockstep
    .transaction()
    .kv.check('orders', named('none'), { expect: 1, required: true })
    .submit(ship, order)
    .commit()
  assert.ok(!lost.success && lost.reason === 'kv_precondition')
  assert.equal((await sql("select 1 from lockstep.node where input::jsonb ->> 'orderId' = $1", [named('o')])).length, 1)
  const messages = await lockstep.queue(done).group('g').subscriptionMode('all').batch(10).wait(true).pop()
  assert.deepEqual(
    messages.map((message) => message.data),
    ['pushed'],
  )
  const wrong = (): unknown => lockstep.transaction().submit(ship, order, JSON.parse('{"onKnownKey":"refuse"}'))
  assert.throws(wrong, { code: 'bad_request', message: /onKnownKey/ })
  await assert.rejects(lockstep.transaction().submit(ship, JSON.parse('{}')).commit(), { message: /orderId/ })
})

onEveryWay(
  'a lost answer that is asked for again tells the run of the first commit',
  async ({ lockstep, named, sql }) => {
    const job = action({ name: named('job'), input: z.number() }, (_ctx, n) => n)
    const requestId = named('again')
    const step = lockstep.transaction().submit(job, 1).kv.put('again', named('k'), 1, { ttl: '1d' })
    const first = await step.commit({ requestId })
    assert.ok(first.success)
    assert.deepEqual(await step.commit({ requestId }), first)
    assert.equal((await sql('select 1 from lockstep.node where workflow = $1', [named('job')])).length, 1)
  },
)

test('types: the data must be an input or be mapped to one', () => {
  const far = new Lockstep({ url: 'http://127.0.0.1:1' })
  const near = new Lockstep({ connectionString: 'postgres://127.0.0.1:1/none' })
  const Events = queue('order-events', Event)
  const written = (): unknown[] => [
    fulfil.startOn(far.queue('orders', Order)),
    ship.startOn(far.queue(Events).group('g').each()),
    // @ts-expect-error the data is no input
    fulfil.startOn(near.queue('numbers', z.number())),
    // @ts-expect-error nor is it through a broker
    fulfil.startOn(far.queue('numbers', z.number())),
    fulfil.startOn(near.queue('numbers', z.number()), ({ data }) => ({ orderId: `${data}` })),
    // @ts-expect-error what it is mapped to is no input
    fulfil.startOn(near.queue('numbers', z.number()), ({ data }) => data),
    ship.startOn(near.queue(Events).group('g')),
    // @ts-expect-error a run's input is typed in a transaction too
    far.transaction().submit(ship, { orderId: 7 }),
    // @ts-expect-error a known key cannot be refused there
    far.transaction().submit(ship, { orderId: 'o' }, { onKnownKey: 'refuse' }),
  ]
  assert.equal(typeof written, 'function')
})
