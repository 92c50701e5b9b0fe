// Declared queues on both ways: checked before a push, checked again before a handler, and what does not fit ends as a dead
// letter that names the path, or where the caller sends it.
import assert from 'node:assert/strict'
import { queue } from 'lockstep'
import { z } from 'zod'
import { onEveryWay } from './every-way.ts'

const Order = z.object({
  orderId: z.string(),
  at: z.coerce.date(),
  lines: z.array(z.object({ n: z.number() })).default([]),
})

onEveryWay(
  'a push that the schema refuses names the path, and nothing of the call is sent',
  async ({ lockstep, named }) => {
    const Orders = queue(named('orders'), Order)
    const fine = { orderId: 'o-1', at: '2026-01-01', lines: [{ n: 1 }] }
    const wrong: { orderId: string; at: string; lines: never[] } = JSON.parse(
      '{"orderId":"o-2","at":"2026-01-01","lines":[{"n":1},{"n":"x"}]}',
    )
    await assert.rejects(
      lockstep.queue(Orders).push([{ data: fine }, { data: wrong }]),
      (error: Error & { code?: string; details?: { issues?: readonly { path: string }[] } }) => {
        assert.equal(error.code, 'invalid_payload')
        assert.match(error.message, /items\[1\].*data\.lines\[1\]\.n/)
        assert.deepEqual(
          error.details?.issues?.map((issue) => issue.path),
          ['data.lines[1].n'],
        )
        return true
      },
    )
    await assert.rejects(lockstep.transaction().queue(Orders).push({ data: wrong }).commit(), {
      code: 'invalid_payload',
    })
    assert.deepEqual(await lockstep.queue(Orders).pop(), [])
  },
)

onEveryWay('the handler gets what the schema makes of the payload', async ({ lockstep, named }) => {
  const Orders = queue(named('orders'), Order)
  await lockstep.queue(Orders).push({ data: { orderId: 'o-1', at: '2026-01-01T00:00:00Z' } })
  await lockstep
    .queue(Orders)
    .group('g')
    .subscriptionMode('all')
    .each()
    .limit(1)
    .consume(async (message) => {
      const { at, lines }: { at: Date; lines: { n: number }[] } = message.data
      assert.equal(at.getTime(), Date.UTC(2026, 0, 1))
      assert.deepEqual(lines, [])
    })
  const [popped] = await lockstep.queue(named('orders'), Order).pop()
  assert.equal(popped?.data.at.getTime(), Date.UTC(2026, 0, 1))
})

onEveryWay(
  'a message that its schema refuses is dead-lettered with the path, and its neighbours are handled',
  async ({ lockstep, named, sql }) => {
    const name = named('orders')
    await lockstep
      .queue(name)
      .push([{ data: { orderId: 'a', at: 0 } }, { data: { orderId: 7, at: 0 } }, { data: { orderId: 'b', at: 0 } }])
    for (const way of ['each', 'batch', 'pop']) {
      const seen: string[] = []
      const source = lockstep.queue(queue(name, Order)).group(way).subscriptionMode('all')
      if (way === 'each') {
        const result = await source
          .each()
          .limit(3)
          .consume(async (message) => {
            seen.push(message.data.orderId)
          })
        assert.equal(result.consumed, 3)
      } else if (way === 'batch') {
        await source.limit(3).consume(async (messages) => {
          for (const message of messages) seen.push(message.data.orderId)
        })
      } else {
        for (let round = 0; round < 10 && seen.length < 2; round += 1) {
          for (const message of await source.wait(true).timeout(500).pop()) {
            seen.push(message.data.orderId)
            // Handing back what was not asked for ends the lease of the batch.
            await lockstep.ack(message)
          }
          if (seen.length === 1)
            await sql(
              `update lockstep.lane l set lease_expires_at = null, lease_id = null, batch_end = null, available_at = lockstep.clock()
             from lockstep.queue q, lockstep.consumer_group g
            where q.id = l.queue_id and q.name = $1 and g.queue_id = q.id and g.id = l.group_id and g.name = 'pop'`,
              [name],
            )
        }
      }
      assert.deepEqual(seen, ['a', 'b'], way)
      const dead = await sql(
        'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1 and d.group_name = $2',
        [name, way],
      )
      assert.equal(dead.length, 1, way)
      assert.match(String(dead[0]?.['error']), /data\.orderId/)
    }
  },
)

onEveryWay('onInvalid takes what the schema refuses, and then it is completed', async ({ lockstep, named, sql }) => {
  const name = named('orders')
  await lockstep.queue(name).push([{ data: { orderId: 7 } }, { data: { orderId: 'b', at: 0 } }])
  const invalid: string[] = []
  const seen: string[] = []
  const result = await lockstep
    .queue(name, Order)
    .group('g')
    .subscriptionMode('all')
    .each()
    .limit(2)
    .consume(
      async (message) => {
        seen.push(message.data.orderId)
      },
      {
        onInvalid: (message) => {
          invalid.push(`${message.text} ${message.issues.map((issue) => issue.path).join(' ')}`)
        },
      },
    )
  assert.deepEqual([result.consumed, seen], [2, ['b']])
  assert.equal(invalid.length, 1)
  assert.match(invalid[0] ?? '', /^\{"orderId":7\} data\.orderId/)
  const [dead] = await sql(
    'select count(*)::int as n from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
    [name],
  )
  assert.equal(dead?.['n'], 0)
})

onEveryWay('a schema may be asynchronous at both ends', async ({ lockstep, named }) => {
  const Slow = queue(
    named('slow'),
    z.string().refine(async (text) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return text !== 'no'
    }, 'is no'),
  )
  await assert.rejects(lockstep.queue(Slow).push({ data: 'no' }), { code: 'invalid_payload' })
  const result = await lockstep
    .transaction()
    .queue(Slow)
    .push([{ data: 'one' }, { data: 'two' }])
    .commit()
  assert.equal(result.success, true)
  const messages = await lockstep.queue(Slow).wait(true).timeout(5_000).pop()
  assert.deepEqual(
    messages.map((message) => message.data),
    ['one', 'two'],
  )
})

onEveryWay(
  'a schema that throws is a failure of the message, not the end of the consumer',
  async ({ lockstep, named, sql }) => {
    const name = named('q')
    await lockstep.queue(name).config({ retryLimit: 0, retryDelay: 0 }).create()
    await lockstep.queue(name).push([{ data: 'boom' }, { data: 'fine' }])
    const Fragile = queue(
      name,
      z.string().transform((text) => {
        if (text === 'boom') throw new Error('a bug')
        return text
      }),
    )
    const seen: string[] = []
    const result = await lockstep
      .queue(Fragile)
      .group('g')
      .subscriptionMode('all')
      .each()
      .limit(2)
      .consume(async (message) => {
        seen.push(message.data)
      })
    assert.deepEqual([result.consumed, seen], [2, ['fine']])
    const dead = await sql(
      'select d.error from lockstep.dead_letter d join lockstep.queue q on q.id = d.queue_id where q.name = $1',
      [name],
    )
    assert.deepEqual(dead, [{ error: 'the schema failed: a bug' }])
  },
)
