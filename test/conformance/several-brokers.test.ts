// One client and several brokers over one PostgreSQL: whatever a broker's end cuts off goes to another, once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBroker } from 'lockstep/broker'
import { Lockstep } from 'lockstep'
import { createTestDatabase } from '../../src/testing/database.ts'

test('a client of two brokers goes on when one stops, is back when it is there again, and nothing is lost or doubled', async (t) => {
  const db = await createTestDatabase(t)
  const start = async (port: number) => {
    const broker = createBroker({ connectionString: db.connectionString, port, connections: 4 })
    await broker.start()
    return broker
  }
  let first = await start(0)
  const second = await start(0)
  const port = Number(new URL(first.address).port)
  const lockstep = new Lockstep({ url: [first.address, second.address], logger: { warn() {} } })
  t.after(() => Promise.all([lockstep.close(), first.stop(), second.stop()]))

  const total = 240
  const seen: number[] = []
  const consumers = Array.from({ length: 4 }, (_, at) =>
    lockstep
      .queue<number>(`q${at}`)
      .group('g')
      .subscriptionMode('all')
      .wait(true)
      .limit(total / 4)
      .each()
      .consume((message) => void seen.push(message.data)),
  )
  for (let n = 0; n < total; n++) {
    await lockstep.queue<number>(`q${n % 4}`).push([{ transactionId: `t${n}`, data: n }])
    if (n === 60) await first.stop()
    if (n === 160) first = await start(port)
  }
  await Promise.all(consumers)
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: total }, (_, n) => n),
  )
})

test('clients of two brokers meet in the same one for an ephemeral queue, in whatever order they name them', async (t) => {
  const db = await createTestDatabase(t)
  const brokers = [0, 1].map(() => createBroker({ connectionString: db.connectionString, port: 0, connections: 2 }))
  await Promise.all(brokers.map(async (broker) => broker.start()))
  const url = brokers.map((broker) => broker.address)
  const [pusher, taker] = [new Lockstep({ url }), new Lockstep({ url: url.toReversed() })]
  t.after(() => Promise.all([pusher.close(), taker.close(), ...brokers.map(async (broker) => broker.stop())]))

  const names = Array.from({ length: 40 }, (_, n) => `presence-${n}`)
  for (const name of names) await pusher.ephemeral(name).push({ data: name })
  for (const name of names) {
    const [message] = await taker.ephemeral(name).pop()
    assert.equal(message?.data, name)
    assert.equal((await taker.ephemeral(name).ack(message)).outcome, 'acked')
  }
  const alone = await Promise.all(
    url.map(async (address) => {
      const client = new Lockstep({ url: address })
      const held = await client.ephemeral.list()
      await client.close()
      return held.length
    }),
  )
  assert.equal(
    alone.reduce((all, n) => all + n),
    names.length,
  )
  assert.ok(Math.min(...alone) > 0, `not all in one: ${alone.join(' and ')}`)
})

test('an empty list of brokers, and one that is no address, are refused by name', () => {
  assert.throws(() => new Lockstep({ url: [] }), /url must name at least one broker/)
  assert.throws(() => new Lockstep({ url: ['http://a', 'b'] }), /url must be like http:\/\/localhost:6632; got 'b'/)
})
