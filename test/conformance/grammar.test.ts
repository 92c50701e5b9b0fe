// The grammar's types: what must compile under strict, the seeds' JavaScript surface among it, and what must not, with the
// compiler's own expectation on the line above. The one test at run time builds every sentence without sending any.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep, queue, type CommitResult, type KvEntry, type Message, type PushOutcome } from 'lockstep'
import { Lockstep as HttpLockstep } from 'lockstep/http'
import pg, { type Client } from 'pg'
import { z } from 'zod'

const http = new Lockstep({ url: 'http://127.0.0.1:1' })
const direct = new Lockstep({ connectionString: 'postgres://127.0.0.1:1/none' })
const either = new Lockstep(
  process.env['NO_SUCH_VARIABLE'] === undefined
    ? { url: 'http://127.0.0.1:1' }
    : { connectionString: process.env['NO_SUCH_VARIABLE'] },
)
const edge = new HttpLockstep({ url: 'http://127.0.0.1:1', token: 'x' })

const Orders = queue('order-events', z.object({ orderId: z.string(), at: z.coerce.date() }))

/** Every sentence is written, none is sent. */
const sentences: (() => unknown)[] = [
  // What the workflow pattern says, with the client under any name.
  async () => {
    const queen = either
    await queen
      .queue('order-events')
      .group('workflow')
      .subscriptionMode('all')
      .autoAck(false)
      .each()
      .consume(async (msg) => {
        const { orderId } = msg.data
        const order = await queen.kv.get('orders', orderId)
        if (order.value.status !== 'paid') return queen.ack(msg, 'completed', { group: 'workflow' })
        const result = await queen
          .transaction()
          .ack(msg, 'completed', { consumerGroup: 'workflow' })
          .kv.put('orders', orderId, { status: 'shipping' }, { ttl: '30d', expect: order.version, required: true })
          .queue('shipping')
          .partition(orderId)
          .push([{ transactionId: `ship-${orderId}`, data: { orderId } }])
          .commit()
        if (!result.success) return undefined
        return result.results.length
      })
  },

  // The hand-over tutorial's order of words: push before ack, each() before autoAck and limit, pop with wait.
  async () => {
    const queen = either
    await queen
      .queue('orders')
      .partition('acme')
      .push({ data: { orderId: 'A-1', total: 120.5 } })
    const result = await queen
      .transaction()
      .queue('invoices')
      .partition('acme')
      .push([{ data: { invoiceId: 'INV-A-1' } }])
      .ack({ transactionId: 't', partitionId: '1000000000001' }, 'completed', { consumerGroup: 'g' })
      .commit()
    if (!result.success) throw new Error(result.error)
    await queen
      .queue('orders')
      .group('g')
      .subscriptionMode('all')
      .each()
      .autoAck(false)
      .limit(3)
      .idleMillis(5000)
      .consume(async () => {})
    const invoices = await queen.queue('invoices').batch(10).partitions(10).wait(true).pop()
    invoices.map((message) => message.data.orderId).toSorted((a, b) => Number(a < b))
    await queen.queue('orders').group('g').batch(10).wait(false).pop()
    await queen.queue('orders').delete()
    await queen.close()
  },

  // Declared queues: In when pushing, Out when handling.
  async () => {
    await direct
      .queue(Orders)
      .group('w')
      .each()
      .consume(async (message) => {
        const exact: Message<{ orderId: string; at: Date }> = message
        exact.signal.throwIfAborted()
        message.data.at.getTime()
        // @ts-expect-error no such member
        message.data.nope()
      })
    await direct.queue(Orders).push({ data: { orderId: 'o-1', at: '2026-01-01' } })
    // @ts-expect-error orderId is text
    await direct.queue(Orders).push({ data: { orderId: 1, at: 'x' } })
    // @ts-expect-error orderId is missing
    await direct.queue(Orders).push([{ data: { at: 'x' } }])
    await direct
      .transaction()
      .queue(Orders)
      .push([{ data: { orderId: 'x', at: 0 } }])
      .commit()
    // @ts-expect-error a is a number
    await direct.queue('x', z.object({ a: z.number() })).push({ data: { a: 'no' } })
    await direct.queue<{ n: number }>('typed').push({ data: { n: 1 } })
    // @ts-expect-error n is a number
    await direct.queue<{ n: number }>('typed').push({ data: { n: 'x' } })
  },

  // State.
  async () => {
    const entry = await direct.kv.get<{ status: string }>('orders', 'k')
    const exact: KvEntry<{ status: string }> = entry
    exact.version.toFixed()
    // @ts-expect-error the key may be missing
    entry.value.status.trim()
    if (entry.found) entry.value.status.trim()
    await direct.kv.put('o', 'k', 1, { forever: true })
    // @ts-expect-error a lifetime must be said
    await direct.kv.put('o', 'k', 1, {})
    // @ts-expect-error a week is no unit
    await direct.kv.put('o', 'k', 1, { ttl: '1w' })
    // @ts-expect-error one lifetime, not two
    await direct.kv.put('o', 'k', 1, { ttl: '1d', forever: true })
    // @ts-expect-error check says what it expects
    await direct.kv.check('o', 'k', {})
  },

  // Timers and locks.
  async () => {
    const timer = await direct.timers.schedule(Orders, 'k', { orderId: 'o', at: 0 }, { delay: '3d' })
    timer.deliverAt.trim()
    // @ts-expect-error the queue's schema says what its timers carry
    await direct.timers.schedule(Orders, 'k', { orderId: 1 }, { delay: '3d' })
    // @ts-expect-error when it fires must be said
    await direct.timers.schedule('q', 'k', 1, {})
    // @ts-expect-error one delay, not two
    await direct.timers.schedule('q', 'k', 1, { delay: '1d', delayMs: 5 })
    const cancelled = await direct.timers.cancel(Orders, 'k')
    // @ts-expect-error there may have been none
    cancelled.transactionId.trim()
    const lock = await direct.locks.acquire('l')
    // @ts-expect-error somebody else may have it
    lock.token.toFixed()
    if (lock.acquired) direct.transaction().guard(lock).timers.cancel('q', 'k')
    const answer: number = await direct.locks.withLock('l', async (held) => held.token)
    const plain: string = await direct.locks.semaphore('s', 3).withPermit((permit) => permit.owner)
    return [answer, plain]
  },

  // Verdicts are exhaustive.
  async () => {
    const result: CommitResult = await direct.transaction().kv.delete('o', 'k').commit()
    if (result.success) return result.results.map((each) => each.type)
    switch (result.reason) {
      case 'kv_precondition':
        return result.version + 1
      case 'duplicate':
        return result.messageId
      case 'lock_lost':
        return result.lock
      case 'lease_lost':
      case 'rejected_ack':
      case 'queue_full':
      case 'too_large':
      case 'queue_not_found':
      case 'run_conflict':
        return result.error
      default:
        return result satisfies never
    }
  },
  async () => {
    const outcomes: readonly PushOutcome[] = await direct.queue('q').push([{ data: 1 }])
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') outcome.reason.trim()
      else outcome.messageId.trim()
    }
  },

  // What needs PostgreSQL is refused where there is none.
  async () => {
    await direct
      .queue('q')
      .transactional()
      .consume(async (message, step) => {
        await step.tx.query('select $1::text', [message.data])
        await step.queue(Orders).push({ data: { orderId: 'o', at: 0 } })
        await step.kv.put('o', 'k', 1, { ttl: '1d' })
      })
    await either
      .queue('q')
      .each()
      .transactional()
      .consume(async () => {})
    // @ts-expect-error transactional() runs inside PostgreSQL
    await http
      .queue('q')
      .transactional()
      .consume(async () => {})
    // @ts-expect-error transactional() runs inside PostgreSQL
    await edge
      .queue('q')
      .group('g')
      .each()
      .transactional()
      .consume(async () => {})
  },
  async () => {
    const tx: Client = new pg.Client()
    await http
      .in(tx)
      .queue(Orders)
      .partition('p')
      .push({ data: { orderId: 'o', at: 0 } })
    await direct.in(tx).kv.incr('c', 'n', 1, { ttl: '1d' })
    await direct.in(await new pg.Pool().connect()).kv.get('c', 'n')
    await direct
      .queue('q')
      .transactional()
      .consume(async (_, step) => direct.in(step.tx).kv.get('c', 'n'))
    // @ts-expect-error a pool is no transaction
    direct.in(new pg.Pool())
    const staged = direct.in(tx).queue(Orders)
    // @ts-expect-error orderId is text
    await staged.push({ data: { orderId: 1, at: 0 } })
  },

  // Settings.
  () => {
    // @ts-expect-error no such mode
    direct.queue('q').subscriptionMode('sometimes')
    // @ts-expect-error no such option
    direct.queue('q').config({ leaseTimes: 1 })
    // @ts-expect-error seconds are a number
    direct.queue('q').config({ leaseTime: '60' })
    // @ts-expect-error one way, not two
    const two = new Lockstep({ url: 'http://127.0.0.1:1', connectionString: 'postgres://127.0.0.1:1/none' })
    // @ts-expect-error one way at least
    const none = new Lockstep({})
    // @ts-expect-error the edge entry knows no database
    const edgeless = new HttpLockstep({ connectionString: 'postgres://127.0.0.1:1/none' })
    return [two, none, edgeless]
  },
]

test('a client is made without a connection, and without a way it is refused with the reason', async () => {
  assert.equal(sentences.length, 10)
  for (const client of [http, direct, either, edge]) await client.close()
  assert.throws(() => Reflect.construct(Lockstep, [{}]), { code: 'bad_request', message: /\{ url \}/ })
  assert.throws(() => Reflect.construct(Lockstep, [{ connectionString: undefined }]), {
    code: 'bad_request',
    message: /undefined/,
  })
  assert.throws(() => Reflect.construct(Lockstep, [{ url: 'http://a', pool: {} }]), { code: 'bad_request' })
  assert.throws(() => new Lockstep({ url: 'ftp://a' }), { code: 'bad_request' })
  assert.throws(() => new Lockstep({ url: 'not a url' }), { code: 'bad_request' })
  assert.ok(direct instanceof Lockstep)
})
