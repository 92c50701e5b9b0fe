// in(tx) on both ways: pushes and state that exist when the caller's own transaction commits, and only then.
import assert from 'node:assert/strict'
import { Pool } from 'pg'
import { onEveryWay } from './every-way.ts'
import { until } from './until.ts'

onEveryWay(
  'pushes and state are there after the commit, in order, and not before',
  async ({ lockstep, connect, named }) => {
    const tx = await connect()
    await tx.query('begin')
    const queue = lockstep.queue(named('q')).group('g').subscriptionMode('all')
    assert.deepEqual(await queue.pop(), [])
    const pushed = await lockstep
      .in(tx)
      .queue(named('q'))
      .partition('p')
      .push([{ data: 1 }, { data: 2, transactionId: 'two' }])
    assert.deepEqual(
      pushed.map((outcome) => [outcome.status, 'offset' in outcome ? outcome.offset : undefined]),
      [
        ['queued', null],
        ['queued', null],
      ],
    )
    assert.equal(pushed[1]?.transactionId, 'two')
    const put = await lockstep.in(tx).kv.put('orders', named('k'), { n: 1 }, { ttl: '1d' })
    assert.equal(put.applied, true)
    assert.equal((await lockstep.in(tx).kv.get('orders', named('k'))).found, true)
    assert.deepEqual(await queue.pop(), [])
    await tx.query('commit')
    const messages = await queue.wait(true).timeout(5_000).pop()
    assert.deepEqual(
      messages.map((message) => message.data),
      [1, 2],
    )
    assert.deepEqual((await lockstep.kv.get('orders', named('k'))).value, { n: 1 })
  },
)

onEveryWay('a rollback leaves nothing, to a savepoint too', async ({ lockstep, connect, named }) => {
  const tx = await connect()
  const queue = lockstep.queue(named('q'))
  await tx.query('begin')
  await lockstep.in(tx).queue(named('q')).push({ data: 'gone' })
  await lockstep.in(tx).kv.put('o', named('k'), 1, { ttl: '1d' })
  await tx.query('rollback')
  await tx.query('begin')
  await lockstep.in(tx).queue(named('q')).push({ data: 'before' })
  await tx.query('savepoint s')
  await lockstep.in(tx).queue(named('q')).push({ data: 'gone too' })
  await tx.query('rollback to s')
  await lockstep.in(tx).queue(named('q')).push({ data: 'after' })
  await tx.query('commit')
  assert.deepEqual(
    (await queue.wait(true).timeout(5_000).pop()).map((message) => message.data),
    ['before', 'after'],
  )
  assert.equal((await lockstep.kv.get('o', named('k'))).found, false)
})

onEveryWay('a lost version is a value and the transaction goes on', async ({ lockstep, connect, named }) => {
  const made = await lockstep.kv.put('o', named('k'), 'a', { ttl: '1d' })
  const tx = await connect()
  await tx.query('begin')
  const lost = await lockstep.in(tx).kv.put('o', named('k'), 'b', { ttl: '1d', expect: made.version + 1_000_000 })
  assert.ok(!lost.applied)
  assert.deepEqual([lost.reason, lost.value], ['version', 'a'])
  const won = await lockstep.in(tx).kv.put('o', named('k'), 'b', { ttl: '1d', expect: made.version, required: true })
  assert.equal(won.applied, true)
  await tx.query('commit')
  assert.equal((await lockstep.kv.get('o', named('k'))).value, 'b')
})

onEveryWay(
  'a repeat inside the window is a duplicate, another body a conflict',
  async ({ lockstep, connect, named }) => {
    await lockstep.queue(named('q')).push({ data: 1, transactionId: 'k' })
    const tx = await connect()
    await tx.query('begin')
    const outcomes = await lockstep
      .in(tx)
      .queue(named('q'))
      .push([
        { data: 1, transactionId: 'k' },
        { data: 2, transactionId: 'k' },
      ])
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['duplicate', 'conflict'],
    )
    await tx.query('commit')
  },
)

onEveryWay(
  'what is no open transaction is refused by name, and nothing is sent',
  async ({ lockstep, connect, connectionString, named }) => {
    const pool = new Pool({ connectionString, max: 1 })
    // @ts-expect-error a pool is no transaction
    assert.throws(() => lockstep.in(pool), { code: 'not_a_transaction', message: /pool/ })
    await pool.end()
    const tx = await connect()
    assert.throws(() => lockstep.in(tx), { code: 'not_a_transaction', message: /BEGIN/ })
    // @ts-expect-error nothing is no transaction
    assert.throws(() => lockstep.in(null), { code: 'not_a_transaction' })
    assert.throws(() => lockstep.in({ query: async () => ({}) }), { code: 'not_a_transaction', message: /8\.23/ })
    await tx.query('begin')
    const joined = lockstep.in(tx)
    await assert.rejects(tx.query('select 1/0'))
    // pg rejects before it has heard that the transaction failed.
    await until('pg knows', () => tx.getTransactionStatus() === 'E')
    assert.throws(() => lockstep.in(tx), { code: 'failed_transaction' })
    await assert.rejects(joined.queue(named('q')).push({ data: 1 }), { code: 'failed_transaction' })
    await tx.query('rollback')
    await assert.rejects(joined.queue(named('q')).push({ data: 1 }), { code: 'not_a_transaction' })
    await tx.query('begin read only')
    await assert.rejects(lockstep.in(tx).queue(named('q')).push({ data: 1 }), { code: 'read_only_transaction' })
    await tx.query('rollback')
  },
)

for (const isolation of ['read committed', 'repeatable read', 'serializable']) {
  onEveryWay(`pushes and state work in a ${isolation} transaction`, async ({ lockstep, connect, named }) => {
    const tx = await connect()
    await tx.query(`begin isolation level ${isolation}`)
    await lockstep.in(tx).queue(named('q')).push({ data: isolation })
    await lockstep.in(tx).kv.incr('c', named('n'), 1, { ttl: '1d' })
    await tx.query('commit')
    assert.deepEqual(
      (await lockstep.queue(named('q')).wait(true).timeout(5_000).pop()).map((message) => message.data),
      [isolation],
    )
  })
}

onEveryWay('an error of PostgreSQL reaches the caller unchanged', async ({ lockstep, connect, named }) => {
  await lockstep.kv.put('o', named('k'), 1, { ttl: '1d' })
  const [a, b] = [await connect(), await connect()]
  await a.query('begin isolation level repeatable read')
  await a.query('select 1 from lockstep.kv')
  await b.query('begin')
  await lockstep.in(b).kv.put('o', named('k'), 2, { ttl: '1d' })
  await b.query('commit')
  await assert.rejects(lockstep.in(a).kv.put('o', named('k'), 3, { ttl: '1d' }), (error: Error & { code?: string }) => {
    assert.equal(error.code, '40001')
    assert.notEqual(error.name, 'LockstepError')
    return true
  })
  await a.query('rollback')
})

onEveryWay(
  'a value that JSON would change is refused and the transaction is unhurt',
  async ({ lockstep, connect, named }) => {
    const tx = await connect()
    await tx.query('begin')
    await assert.rejects(lockstep.in(tx).queue(named('q')).push({ data: 1n }), { code: 'unserializable' })
    await lockstep.in(tx).queue(named('q')).push({ data: 'text with ? and $1 and \u0000' })
    await tx.query('commit')
    assert.equal(
      (await lockstep.queue(named('q')).wait(true).timeout(5_000).pop())[0]?.data,
      'text with ? and $1 and \u0000',
    )
  },
)
