// transactional().consume(): the handler's rows, pushes and state and the ack in one commit, fenced by the lease. Only straight
// to PostgreSQL; through a broker it is refused, readably.
import assert from 'node:assert/strict'
import { Lockstep } from 'lockstep'
import { Pool } from 'pg'
import { onlyWay, type Case } from './every-way.ts'
import { gate, until } from './until.ts'

async function ordersTable(c: Case): Promise<string> {
  const table = `orders_${c.named('t').replace('-', '_')}`
  await c.sql(`create table ${table} (id text primary key, status text not null)`)
  return table
}

async function lane(c: Case): Promise<unknown> {
  const [row] = await c.sql(
    'select l.failures, l.crashes from lockstep.lane l join lockstep.queue q on q.id = l.queue_id where q.name = $1',
    [c.named('q')],
  )
  return row
}

onlyWay('postgres', "the user's rows, a push, state and the ack are one commit", async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.queue(named('q')).push({ data: { orderId: 'o-1' } })
  const during = gate()
  const look = gate()
  const consuming = lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (message, step) => {
      await step.tx.query(`insert into ${table} values ($1, $2)`, [message.data.orderId, 'shipping'])
      const pushed = await step
        .queue(named('out'))
        .partition('p')
        .push({ data: { orderId: message.data.orderId } })
      assert.equal(pushed[0]?.status, 'queued')
      await step.kv.put('orders', named('k'), { status: 'shipping' }, { ttl: '30d' })
      during.open()
      await look.passed
    })
  await during.passed
  assert.deepEqual(await sql(`select * from ${table}`), [])
  assert.equal((await lockstep.kv.get('orders', named('k'))).found, false)
  assert.deepEqual(await lockstep.queue(named('out')).pop(), [])
  look.open()
  assert.deepEqual(await consuming, { consumed: 1, reason: 'limit' })
  assert.deepEqual(await sql(`select * from ${table}`), [{ id: 'o-1', status: 'shipping' }])
  assert.deepEqual((await lockstep.kv.get('orders', named('k'))).value, { status: 'shipping' })
  assert.deepEqual(
    (await lockstep.queue(named('out')).wait(true).timeout(5_000).pop()).map((m) => m.data),
    [{ orderId: 'o-1' }],
  )
  assert.deepEqual(await lockstep.queue(named('q')).group('w').pop(), [])
})

onlyWay('postgres', 'a handler that throws leaves nothing and spends one retry', async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.queue(named('q')).config({ retryDelay: 0 }).create()
  await lockstep.queue(named('q')).push({ data: 1 })
  let attempts = 0
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      attempts += 1
      await step.tx.query(`insert into ${table} values ('o', $1)`, [String(attempts)])
      await step.queue(named('out')).push({ data: attempts })
      if (attempts === 1) {
        throw new Error('not yet')
      }
      assert.deepEqual(await lane(c), { failures: 1, crashes: 0 })
    })
  assert.deepEqual(await sql(`select * from ${table}`), [{ id: 'o', status: '2' }])
  assert.deepEqual(
    (await lockstep.queue(named('out')).wait(true).timeout(5_000).pop()).map((m) => m.data),
    [2],
  )
})

onlyWay('postgres', 'a swallowed failed statement is not a completed step', async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.queue(named('q')).config({ retryDelay: 0 }).create()
  await lockstep.queue(named('q')).push({ data: 1 })
  let attempts = 0
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      attempts += 1
      await step.tx.query(`insert into ${table} values ('o', $1)`, [String(attempts)])
      if (attempts === 1) await step.tx.query('select 1/0').catch(() => {})
    })
  assert.equal(attempts, 2)
  assert.deepEqual(await sql(`select * from ${table}`), [{ id: 'o', status: '2' }])
})

onlyWay('postgres', 'a deferred constraint that fails at the COMMIT undoes the step', async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await sql(`create table ${table}_line (order_id text references ${table} deferrable initially deferred)`)
  await lockstep.queue(named('q')).config({ retryDelay: 0 }).create()
  await lockstep.queue(named('q')).push({ data: 1 })
  let attempts = 0
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      attempts += 1
      await step.tx.query(`insert into ${table}_line values ('o')`)
      if (attempts === 2) await step.tx.query(`insert into ${table} values ('o', 'x')`)
    })
  assert.equal(attempts, 2)
  assert.deepEqual(await sql(`select * from ${table}_line`), [{ order_id: 'o' }])
})

onlyWay('postgres', 'a step that outlived its lease changes nothing', async (c) => {
  const { lockstep, another, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.queue(named('q')).push({ data: 1 })
  const slow = gate()
  const finish = gate()
  const stop = new AbortController()
  const warnings: string[] = []
  const zombie = another({ warn: (details, message) => warnings.push(`${message} ${JSON.stringify(details)}`) })
  const consuming = zombie
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .leaseSeconds(1)
    .renewLease(false)
    .transactional()
    .consume(
      async (message, step) => {
        await step.tx.query(`insert into ${table} values ('zombie', $1)`, [message.leaseId])
        slow.open()
        await finish.passed
        stop.abort()
      },
      { signal: stop.signal },
    )
  await slow.passed
  const right = await lockstep
    .queue(named('q'))
    .group('w')
    .transactional()
    .idleMillis(10_000)
    .limit(1)
    .consume(async (_, step) => {
      await step.tx.query(`insert into ${table} values ('right', '')`)
    })
  assert.equal(right.consumed, 1)
  finish.open()
  assert.deepEqual(await consuming, { consumed: 0, reason: 'stopped' })
  assert.deepEqual(await sql(`select id from ${table}`), [{ id: 'right' }])
  assert.match(warnings.join('\n'), /lease/)
})

onlyWay('postgres', 'a required state operation that lost hands the message back and commits nothing', async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.kv.put('o', named('k'), 'paid', { ttl: '1d' })
  await lockstep.queue(named('q')).push({ data: 1 })
  let attempts = 0
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      attempts += 1
      const entry = await step.kv.get('o', named('k'))
      await step.tx.query(`insert into ${table} values ('o', $1)`, [String(attempts)])
      const expect = attempts === 1 ? entry.version + 1_000_000 : entry.version
      const put = await step.kv.put('o', named('k'), 'shipping', { ttl: '1d', expect, required: true })
      assert.equal(put.applied, attempts === 2)
    })
  assert.deepEqual(await sql(`select * from ${table}`), [{ id: 'o', status: '2' }])
  assert.deepEqual(await lane(c), { failures: 0, crashes: 0 })
})

onlyWay('postgres', "the handler's client refuses to begin, commit or roll back, and takes savepoints", async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.queue(named('q')).push({ data: 1 })
  let kept: { query(text: string): Promise<unknown> } | null = null
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      const refused = [
        'begin',
        'COMMIT',
        ' /* x */ rollback',
        'select 1; commit',
        'end',
        'abort',
        'start transaction',
        "prepare transaction 'x'",
        'commit and chain',
      ]
      for (const text of refused) {
        await assert.rejects(async () => step.tx.query(text), { code: 'bad_request' }, text)
      }
      assert.throws(() => Reflect.get(step.tx, 'release')(), { code: 'bad_request' })
      await step.tx.query(`insert into ${table} values ('kept', 'commit;')`)
      await step.tx.query('savepoint s')
      await step.tx.query(`insert into ${table} values ('undone', '')`)
      await step.tx.query('rollback to savepoint s')
      await step.tx.query('release savepoint s')
      const { rows } = await step.tx.query<{ n: number }>('select $1::int + 1 as n', [1])
      assert.deepEqual(rows, [{ n: 2 }])
      kept = step.tx
    })
  assert.deepEqual(await sql(`select id from ${table}`), [{ id: 'kept' }])
  const late: { query(text: string): Promise<unknown> } = kept ?? assert.fail()
  await assert.rejects(async () => late.query('select 1'), { code: 'not_a_transaction' })
})

onlyWay('postgres', 'a backend that dies under a step leaves the message to be read again', async (c) => {
  const { lockstep, named, sql } = c
  const table = await ordersTable(c)
  await lockstep.queue(named('q')).config({ retryDelay: 0 }).create()
  await lockstep.queue(named('q')).push({ data: 1 })
  let attempts = 0
  await lockstep
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .limit(1)
    .consume(async (_, step) => {
      attempts += 1
      const { rows } = await step.tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await step.tx.query(`insert into ${table} values ('o', $1)`, [String(attempts)])
      if (attempts === 1) await sql('select pg_terminate_backend($1)', [rows[0]?.pid])
    })
  assert.equal(attempts, 2)
  assert.deepEqual(await sql(`select * from ${table}`), [{ id: 'o', status: '2' }])
})

onlyWay('postgres', 'handlers that call the client inside their step cannot starve their own commits', async (c) => {
  const { named, connectionString } = c
  const lockstep = new Lockstep({ connectionString, connections: 4, logger: { warn() {} } })
  try {
    const partitions = Array.from({ length: 12 }, (_, index) => `p${index}`)
    for (const partition of partitions) await lockstep.queue(named('q')).partition(partition).push({ data: partition })
    const result = await lockstep
      .queue(named('q'))
      .group('w')
      .subscriptionMode('all')
      .concurrency(12)
      .transactional()
      .batch(1)
      .limit(12)
      .consume(
        async (message, step) => {
          await step.tx.query('select pg_sleep(0.05)')
          await lockstep.kv.put('o', `${named('k')}-${message.data}`, 1, { ttl: '1d' })
          await lockstep.queue(named('out')).push({ data: message.data })
        },
        { signal: AbortSignal.timeout(20_000) },
      )
    assert.deepEqual(result, { consumed: 12, reason: 'limit' })
  } finally {
    await lockstep.close()
  }
})

onlyWay(
  'postgres',
  "a deadlock or a lost connection under a step is nobody's failure: it is handed back uncounted",
  async (c) => {
    const { lockstep, named, sql, connect } = c
    const table = await ordersTable(c)
    await sql(`insert into ${table} values ('a', ''), ('b', '')`)
    await lockstep.queue(named('q')).push({ data: 1 })
    const other = await connect()
    let attempts = 0
    await lockstep
      .queue(named('q'))
      .group('w')
      .subscriptionMode('all')
      .transactional()
      .limit(1)
      .consume(async (_, step) => {
        attempts += 1
        await step.tx.query('set local deadlock_timeout = 10')
        await step.tx.query(`update ${table} set status = 'step' where id = 'a'`)
        if (attempts > 1) return
        await other.query('begin')
        await other.query(`set local deadlock_timeout = '1h'`)
        await other.query(`update ${table} set status = 'other' where id = 'b'`)
        const crossing = other.query(`update ${table} set status = 'other' where id = 'a'`)
        await until('the other waits', async () => {
          const [row] = await sql('select count(*)::int as n from pg_locks where not granted')
          return row?.['n'] === 1
        })
        try {
          await step.tx.query(`update ${table} set status = 'step' where id = 'b'`)
        } finally {
          await crossing.catch(() => {})
          await other.query('commit')
        }
      })
    assert.equal(attempts, 2)
    assert.deepEqual(await lane(c), { failures: 0, crashes: 0 })
  },
)

onlyWay(
  'postgres',
  'a pool too small for a step ends the consumer with the reason, and the message is unhurt',
  async (c) => {
    const { lockstep, named, connectionString } = c
    await lockstep.queue(named('q')).push({ data: 1 })
    const pool = new Pool({ connectionString, max: 1 })
    const tiny = new Lockstep({ pool, logger: { warn() {} } })
    const consuming = tiny
      .queue(named('q'))
      .group('w')
      .subscriptionMode('all')
      .transactional()
      .consume(async () => {})
    await assert.rejects(consuming, { code: 'bad_request', message: /at least 2/ })
    await tiny.close()
    await pool.end()
    const [message] = await lockstep.queue(named('q')).group('w').wait(true).timeout(5_000).pop()
    assert.equal(message?.data, 1)
    assert.deepEqual(await lane(c), { failures: 0, crashes: 0 })
  },
)

onlyWay('postgres', 'a closing client finishes the step it works on', async (c) => {
  const { another, named, lockstep } = c
  const worker = another()
  await lockstep.queue(named('q')).push([{ data: 1 }, { data: 2 }])
  let inside = false
  const consuming = worker
    .queue(named('q'))
    .group('w')
    .subscriptionMode('all')
    .transactional()
    .consume(async (_, step) => {
      inside = true
      await step.queue(named('out')).push({ data: 1 })
      await new Promise((resolve) => setTimeout(resolve, 300))
    })
  await until('the handler runs', () => inside)
  await worker.close()
  assert.deepEqual(await consuming, { consumed: 1, reason: 'stopped' })
  assert.deepEqual(
    (await lockstep.queue(named('q')).group('w').wait(true).timeout(5_000).pop()).map((m) => m.data),
    [2],
  )
  assert.equal((await lockstep.queue(named('out')).wait(true).timeout(5_000).pop()).length, 1)
})

onlyWay('http', 'transactional() is refused by a client that goes through a broker', async ({ lockstep, named }) => {
  const { queue } = lockstep
  await lockstep.queue(named('q')).push({ data: 1 })
  const warned = queue(named('q')).group('w').subscriptionMode('all').transactional()
  await assert.rejects(
    warned.limit(1).consume(async () => {}),
    { code: 'not_available', message: /connectionString/ },
  )
})
