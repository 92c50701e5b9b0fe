// Buffered pushes every way: each message once, in order, with its own verdict; the buffer's end loses none.
import assert from 'node:assert/strict'
import { queue as declare } from 'lockstep'
import { z } from 'zod'
import { onEveryWay, type Case } from './every-way.ts'

async function stored({ sql }: Case, queue: string): Promise<readonly unknown[]> {
  const rows = await sql(
    `select m.payload from lockstep.message m join lockstep.queue q on q.id = m.queue_id
      where q.name = $1 and q.deleted_at is null order by m.partition_id, m."offset"`,
    [queue],
  )
  return rows.map((row) => JSON.parse(String(row['payload'])))
}

const NUMBERS = Array.from({ length: 250 }, (_, at) => at)

onEveryWay(
  'a fast producer waits for room, and all is there once and in order when the buffer is flushed',
  async (c) => {
    const queue = c.named('q')
    const pushes = []
    for (const n of NUMBERS) {
      const buffer = c.lockstep.queue(queue).buffer({ messageCount: 20, timeMillis: 60_000, maxSize: 40 })
      const push = buffer.push({ data: n })
      await push.taken
      assert.ok(buffer.status().messages <= 40)
      pushes.push(push)
    }
    const buffer = c.lockstep.queue(queue).buffer()
    await buffer.flush()
    assert.deepEqual(buffer.status(), { messages: 0, bytes: 0, waiting: 0 })
    assert.deepEqual(await stored(c, queue), NUMBERS)
    const offsets = (await Promise.all(pushes)).flatMap((verdicts) =>
      verdicts.map((verdict) => (verdict.status === 'queued' ? verdict.offset : verdict.status)),
    )
    assert.deepEqual(offsets, NUMBERS)
  },
)

onEveryWay('each push hears of its own messages: duplicates, conflicts and what its schema refuses', async (c) => {
  const orders = declare(c.named('orders'), z.object({ id: z.number() }))
  const buffer = c.lockstep.queue(orders).partition('acme').buffer({ messageCount: 3, timeMillis: 60_000 })
  const first = buffer.push({ data: { id: 1 }, transactionId: 'o-1' })
  const again = buffer.push([
    { data: { id: 1 }, transactionId: 'o-1' },
    { data: { id: 2 }, transactionId: 'o-1' },
  ])
  // @ts-expect-error the schema wants a number
  await assert.rejects(buffer.push({ data: { id: 'x' } }), { code: 'invalid_payload' })
  const [[queued], [duplicate, conflict]] = await Promise.all([first, again])
  assert.deepEqual([queued?.status, duplicate?.status, conflict?.status], ['queued', 'duplicate', 'conflict'])
  const aside = buffer.partition('globex').push({ data: { id: 3 } })
  await c.lockstep.flush()
  assert.equal((await aside)[0]?.status, 'queued')
  assert.deepEqual(await stored(c, orders.name), [{ id: 1 }, { id: 3 }])
  assert.throws(() => c.lockstep.queue(orders).buffer({ messageCount: 4 }), { code: 'bad_request' })
  assert.throws(() => c.lockstep.queue(c.named('other')).buffer({ messageCount: 0 }), { code: 'bad_request' })
})

onEveryWay('what is buffered is sent after its time, at the end of its block and when the client closes', async (c) => {
  const client = c.another()
  const [verdict] = await client.queue(c.named('timed')).buffer({ timeMillis: 5 }).push({ data: 1 })
  assert.equal(verdict?.status, 'queued')
  {
    await using block = client.queue(c.named('block')).buffer({ timeMillis: 60_000 })
    await block.push({ data: 1 }).taken
    assert.deepEqual(await stored(c, c.named('block')), [])
  }
  assert.deepEqual(await stored(c, c.named('block')), [1])

  const last = client.queue(c.named('last')).buffer({ timeMillis: 60_000 })
  // A handler that is still at work pushes, too.
  await client.queue(c.named('source')).push({ data: 'go' })
  let begun: () => void = () => {}
  const working = new Promise<void>((resolve) => {
    begun = resolve
  })
  const consuming = client
    .queue(c.named('source'))
    .subscriptionMode('all')
    .each()
    .consume(async () => {
      begun()
      await last.push({ data: 'from a handler' })
    })
  await working
  const pushed = last.push({ data: 'left' })
  await client.close()
  assert.equal((await consuming).consumed, 1, 'it got its verdict in time')
  assert.equal((await pushed)[0]?.status, 'queued')
  assert.deepEqual(await stored(c, c.named('last')), ['from a handler', 'left'])
  await assert.rejects(last.push({ data: 'late' }), { code: 'closed' })
})
