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

test('an empty list of brokers, and one that is no address, are refused by name', () => {
  assert.throws(() => new Lockstep({ url: [] }), /url must name at least one broker/)
  assert.throws(() => new Lockstep({ url: ['http://a', 'b'] }), /url must be like http:\/\/localhost:6632; got 'b'/)
})
