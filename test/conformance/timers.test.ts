// Timers on both ways: scheduled, replaced, read and cancelled by queue and key; delivered once; and what a transaction says of them
// holds with it or not at all.
import assert from 'node:assert/strict'
import { queue } from 'lockstep'
import { z } from 'zod'
import { onEveryWay } from './every-way.ts'
import { until } from './until.ts'

onEveryWay('a timer is scheduled, replaced, read, listed and cancelled', async ({ lockstep, named }) => {
  const { timers } = lockstep
  const q = named('q/ü')
  const first = await timers.schedule(q, 'a/b', { n: 1 }, { delay: '3d', partition: 'p', transactionId: 't' })
  assert.deepEqual([first.status, first.transactionId], ['scheduled', 't'])
  const again = await timers.schedule(q, 'a/b', { n: 2 }, { delayMs: 60_000 })
  assert.equal(again.status, 'rescheduled')
  assert.ok(again.deliverAt < first.deliverAt && again.messageId !== first.messageId)
  const entry = await timers.get(q, 'a/b')
  assert.ok(entry.found)
  assert.deepEqual(
    [entry.data, entry.key, entry.partition, entry.deliverAt, entry.messageId, entry.transactionId, entry.attempts],
    [{ n: 2 }, 'a/b', 'Default', again.deliverAt, again.messageId, again.transactionId, 0],
  )
  const keys = ['é', 'a/b', '😀', '0', '%2F']
  const many = await timers.scheduleMany(
    q,
    keys.map((key, n) => ({ key, data: n, delay: '1h' as const })),
  )
  assert.deepEqual(
    many.map(({ status }) => status),
    ['scheduled', 'rescheduled', 'scheduled', 'scheduled', 'scheduled'],
  )
  const page = await timers.list(q, { limit: 3 })
  const rest = await timers.list(q, { after: page.nextAfter ?? '' })
  assert.deepEqual(
    [...page.timers, ...rest.timers].map(({ key }) => key),
    ['%2F', '0', 'a/b', 'é', '😀'],
  )
  assert.deepEqual([page.nextAfter, rest.nextAfter], ['a/b', null])
  assert.deepEqual(await timers.cancel(q, 'é'), { status: 'cancelled', transactionId: many[0]?.transactionId })
  assert.deepEqual(await timers.cancel(q, 'é'), { status: 'absent' })
  assert.deepEqual(await timers.get(q, 'é'), { found: false })
})

onEveryWay('a timer that is due is one message, with the ids that were told', async ({ lockstep, named }) => {
  const q = named('due')
  const reader = lockstep.queue(q).group('g').subscriptionMode('all').wait(true)
  const waiting = reader.timeout(30_000).pop()
  const told = await lockstep.timers.schedule(q, 'k', { big: 'x' }, { delayMs: 50, partition: 'p' })
  const [message] = await waiting
  assert.deepEqual(
    [message?.data, message?.id, message?.transactionId, message?.partition],
    [{ big: 'x' }, told.messageId, told.transactionId, 'p'],
  )
  assert.deepEqual(await lockstep.timers.cancel(q, 'k'), { status: 'absent' })
  assert.deepEqual(await reader.wait(false).pop(), [])
})

onEveryWay('timers of a commit stand behind its other results and fall with it', async ({ lockstep, named }) => {
  const q = named('q')
  const put = lockstep.transaction().kv.put('t', q, 1, { ttl: '1d', expect: 0, required: true })
  const won = await put.timers
    .schedule(q, 'a', 1, { delay: '1d' })
    .timers.cancel(q, 'nobody')
    .queue(q)
    .push({ data: 'now' })
    .commit()
  assert.ok(won.success)
  assert.deepEqual(
    won.results.map((result) => [result.type, 'status' in result ? result.status : null]),
    [
      ['push', 'queued'],
      ['kv', null],
      ['timer', 'scheduled'],
      ['timer', 'absent'],
    ],
  )
  const lost = await put.timers.cancel(q, 'a').timers.schedule(q, 'b', 1, { delay: '1d' }).commit()
  assert.equal(lost.success ? '' : lost.reason, 'kv_precondition')
  assert.deepEqual(
    (await lockstep.timers.list(q)).timers.map(({ key }) => key),
    ['a'],
  )
  const repeated = { requestId: named('request') }
  const once = await lockstep.transaction().timers.schedule(q, 'once', 1, { delay: '1d' }).commit(repeated)
  assert.equal(once.success, true)
  assert.equal((await lockstep.timers.list(q)).timers.length, 2)
})

onEveryWay("in the caller's transaction a timer is there when that commits", async ({ lockstep, connect, named }) => {
  const q = named('q')
  await lockstep.timers.schedule(q, 'old', 1, { delay: '1d' })
  for (const [level, end] of [
    ['read committed', 'rollback'],
    ['repeatable read', 'commit'],
  ] as const) {
    const tx = await connect()
    await tx.query(`begin isolation level ${level}`)
    const { timers } = lockstep.in(tx)
    assert.equal((await timers.schedule(q, 'new', { a: 1 }, { delay: '1d' })).status, 'scheduled')
    assert.equal((await timers.schedule(q, 'new', { a: 2 }, { delay: '2d' })).status, 'rescheduled')
    assert.equal((await timers.cancel(q, 'old')).status, 'cancelled')
    assert.equal((await timers.cancel(q, 'old')).status, 'absent')
    assert.equal((await lockstep.timers.get(q, 'new')).found, false)
    await tx.query(end)
    await tx.end()
    const { timers: pending } = await lockstep.timers.list(q)
    assert.deepEqual(
      pending.map(({ key }) => key),
      end === 'commit' ? ['new'] : ['old'],
    )
  }
  assert.deepEqual((await lockstep.timers.get(q, 'new')).data, { a: 2 })
})

onEveryWay('what no timer can be is refused before it is sent', async ({ lockstep, connect, named }) => {
  const q = named('q')
  const orders = queue(named('orders'), z.object({ orderId: z.string() }))
  const day = { delay: '1d' } as const
  const refused = async (work: Promise<unknown>, code: string, message: RegExp): Promise<void> =>
    assert.rejects(work, (error) => {
      assert.equal(Reflect.get(Object(error), 'code'), code)
      assert.match(String(error), message)
      return true
    })
  const { timers } = lockstep
  await refused(timers.schedule(q, '', 1, day), 'bad_request', /key/)
  await refused(timers.schedule(q, 'k'.repeat(513), 1, day), 'bad_request', /512/)
  await refused(timers.schedule(q, 'k', 1, { delay: '91d' }), 'timer_horizon_exceeded', /90 days/)
  await refused(timers.schedule(q, 'k', 1, { delayMs: 0.5 }), 'timers_bad_request', /whole number/)
  await refused(timers.schedule(q, 'k', 1n, day), 'unserializable', /BigInt/)
  await refused(timers.schedule(q, 'k', 'x'.repeat(1_048_576), day), 'payload_too_large', /1048576/)
  // @ts-expect-error the schema wants a text
  await refused(timers.schedule(orders, 'k', { orderId: 1 }, day), 'invalid_payload', /orderId/)
  await refused(
    timers.scheduleMany(
      q,
      Array.from({ length: 257 }, (_, n) => ({ key: `k${n}`, data: n, ...day })),
    ),
    'timers_bad_request',
    /256/,
  )
  await refused(lockstep.transaction().timers.schedule(q, 'k', undefined, day).commit(), 'unserializable', /undefined/)
  const tx = await connect()
  await tx.query('begin')
  const [row] = (await tx.query(`select lockstep.timer_schedule('${q}', 'sql', '{"a": 1}', interval '2 hours') as r`))
    .rows
  assert.match(String(row?.r), /^\(scheduled,/)
  await tx.query('savepoint s')
  for (const [call, code] of [
    [`timer_schedule('${q}', 'k', '1', interval '4 months')`, 'LS431'],
    [`timer_schedule('${q}', 'k', '1', null)`, 'LS430'],
    [`timer_schedule('${q}', '', '1', interval '1 day')`, 'LS430'],
    [`timer_schedule('${q}', 'k', '1', interval '1 day', '')`, 'LS430'],
    [`timer_cancel('${q}', '..')`, 'LS430'],
  ] as const) {
    await assert.rejects(tx.query(`select lockstep.${call}`), { code })
    await tx.query('rollback to s')
  }
  await tx.query(`select lockstep.timer_schedule('${q}', 'past', '1', interval '-3 days')`)
  await tx.query('commit')
  await tx.end()
  assert.deepEqual((await timers.get(q, 'sql')).data, { a: 1 })
  const seen: unknown[] = []
  await until('the timer that was due at once', async () => {
    const messages = await lockstep.queue(q).group('g').subscriptionMode('all').pop()
    seen.push(...messages.map(({ data }) => data))
    return seen.length > 0
  })
  assert.deepEqual(seen, [1])
})
