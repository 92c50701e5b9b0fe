// B26: no setting of the role, the database or the session changes what a verb answers. The same scenario runs on a plain
// database and on one with every setting turned; the answers are compared word for word, instants by their form and distance.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { openDatabase, type Database } from '../../src/db/pool.ts'
import { ack } from '../../src/operations/ack.ts'
import { configure } from '../../src/operations/configure.ts'
import { extend } from '../../src/operations/extend.ts'
import { findMessage } from '../../src/operations/find-message.ts'
import { kv } from '../../src/operations/kv.ts'
import { listDeadLetters } from '../../src/operations/list-dead-letters.ts'
import { getTimer } from '../../src/operations/get-timer.ts'
import { listGroups } from '../../src/operations/list-groups.ts'
import { listTimers } from '../../src/operations/list-timers.ts'
import { locks } from '../../src/operations/locks.ts'
import { pop } from '../../src/operations/pop.ts'
import { push } from '../../src/operations/push.ts'
import { seekGroup } from '../../src/operations/seek-group.ts'
import { showQueue } from '../../src/operations/show-queue.ts'
import { timers } from '../../src/operations/timers.ts'
import { transaction } from '../../src/operations/transaction.ts'
import type { AckItem, Delivery, PushItem } from '../../src/protocol/message.ts'
import type { TimerOperation } from '../../src/protocol/timer.ts'
import { administer, createTestDatabase } from '../../src/testing/database.ts'

const TURNED: Readonly<Record<string, string>> = {
  timezone: 'Asia/Tokyo',
  datestyle: 'German',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-10',
  standard_conforming_strings: 'off',
  escape_string_warning: 'off',
  search_path: '',
  transform_null_equals: 'on',
  xmlbinary: 'hex',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  synchronous_commit: 'off',
  enable_indexscan: 'off',
  enable_hashjoin: 'off',
  plan_cache_mode: 'force_generic_plan',
  row_security: 'off',
  quote_all_identifiers: 'on',
  lc_numeric: 'C',
  client_min_messages: 'debug5',
  check_function_bodies: 'off',
  default_table_access_method: 'heap',
}

const id = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`

const PAYLOAD = String.raw`{"a":"\u0000 \\ ' \" \ud800","n":9007199254740993.10,"d":"2026-01-02"}`

const item = (n: number, partition: string, transactionId: string | null = `t${n}`): PushItem => ({
  queue: 'orders.eu',
  partition,
  transactionId,
  payload: PAYLOAD,
  traceId: String.raw`tr\'ace`,
  producerSub: 'me',
  messageId: id(n),
})

const timer = (n: number, key: string, delayMs = 400_000): TimerOperation => ({
  op: 'schedule',
  queue: 'timed',
  key,
  partition: 'p',
  delayMs,
  transactionId: `timer${n}`,
  payload: PAYLOAD,
  producerSub: 'me',
  messageId: id(n),
})

const ackOf = (delivery: Delivery, status: AckItem['status'], error: string | null = null): AckItem => ({
  partitionId: delivery.partitionId,
  transactionId: delivery.transactionId,
  offset: null,
  status,
  error,
  leaseId: delivery.leaseId,
  group: 'g',
})

async function popped(db: Database, lease: number, from: string | null = null): Promise<readonly Delivery[]> {
  const { answers, again, dueInMs } = await pop(db, {
    queue: 'orders.eu',
    partition: null,
    group: 'g',
    leaseIds: [id(lease)],
    batch: 10,
    partitions: 5,
    leaseSeconds: 30,
    autoAck: false,
    start: from === null ? { mode: 'all' } : { from },
    floor: null,
    waitStaged: false,
  })
  assert.equal(again, 'no')
  assert.ok(dueInMs === null || (dueInMs > -1_000 && dueInMs < 60_000), `dueInMs ${dueInMs}`)
  return (answers[0] ?? []).toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

async function scenario(db: Database): Promise<readonly unknown[]> {
  const said: unknown[] = []
  const say = <T>(value: T): T => {
    said.push(value)
    return value
  }
  say(
    await configure(db, {
      queue: 'orders.eu',
      namespace: 'shop',
      task: null,
      options: { leaseTime: 45, retryLimit: 0 },
      mode: 'merge',
    }),
  )
  say(await push(db, [item(1, 'a'), item(2, 'b'), item(3, 'a', null), item(1, 'a')]))
  const first = say(await popped(db, 100))
  say(await extend(db, id(100), 90))
  say(await ack(db, [first.map((delivery, n) => ackOf(delivery, n === 0 ? 'failed' : 'completed', 'it "broke" \\'))]))
  say((await listDeadLetters(db, { queue: 'orders.eu', limit: 10 })).entries)
  const put = { op: 'put', ns: 'n', key: 'k', value: PAYLOAD, ttlSeconds: 90, expect: null, required: true } as const
  say(
    await kv(db, [
      [put],
      [{ op: 'get', ns: 'n', key: 'k' }],
      [{ op: 'getPrefix', ns: 'n', prefix: '', limit: 5, after: null, keysOnly: false }],
    ]),
  )
  say(
    await transaction(db, [
      {
        requestId: 'r',
        bodyHash: 'h',
        operations: [{ type: 'push', item: item(9, 'c') }],
        kv: [
          { op: 'incr', ns: 'n', key: 'count', delta: '2.5', min: null, max: '10', ttlSeconds: null, required: true },
        ],
        timers: [timer(20, 'in-step')],
      },
    ]),
  )
  say(await timers(db, [[timer(21, 'a'), timer(22, 'a', 1_500)], [{ ...timer(0, 'x'), op: 'cancel' }]]))
  say(await getTimer(db, 'timed', 'a'))
  say(await listTimers(db, 'timed', 'a', 10))
  const acquire = { op: 'acquire', name: 'l', ttlSeconds: 90, owner: 'it\'s "me" \\', limit: 2 } as const
  say(await locks(db, [[acquire], [{ ...acquire, name: 'm', owner: null }]]))
  const [[held] = []] = await locks(db, [[acquire]])
  const token = held?.op === 'acquire' && held.done ? held.token : 0
  say(await locks(db, [[{ op: 'renew', name: 'l', ttlSeconds: 60, owner: acquire.owner, token, slot: 0 }]]))
  say(await locks(db, [[{ op: 'get', name: 'l' }]]))
  say(await seekGroup(db, { group: 'g', queue: 'orders.eu', to: 'start' }))
  say(await popped(db, 200))
  say(await listGroups(db))
  say(await showQueue(db, 'orders.eu'))
  say(await findMessage(db, first[0]?.partitionId ?? '', 't1'))
  return said
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/

/** An id that SQL minted; ours begin with 01900000. */
const MINTED = /^(?!01900000)[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Instants become a word once they have the one form and lie near; anything that looks like another form is a fault. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') {
    if (INSTANT.test(value)) {
      assert.ok(Math.abs(Date.parse(value) - Date.now()) < 10 * 60_000, `an instant far off: ${value}`)
      return 'an instant'
    }
    if (MINTED.test(value)) return 'a minted id'
    assert.doesNotMatch(value, /^\d{1,4}[-./]\d\d[-./]\d{2,4}[ T]\d\d:/, `an instant in another form: ${value}`)
    return value
  }
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, key.endsWith('LagSeconds') ? 'a time' : plain(inner)]),
    )
  }
  return value
}

async function openTurned(t: TestContext): Promise<Database> {
  const own = await createTestDatabase(t)
  await own.database.close()
  await administer(async (client) => {
    const { rows } = await client.query<{ name: string }>('select name from pg_settings where name = any($1)', [
      Object.keys(TURNED).concat('DateStyle', 'TimeZone', 'IntervalStyle'),
    ])
    const known = new Set(rows.map(({ name }) => name.toLowerCase()))
    for (const [name, value] of Object.entries(TURNED)) {
      if (known.has(name)) await client.query(`alter database ${own.name} set ${name} = '${value}'`)
    }
  })
  const database = openDatabase({ connectionString: own.connectionString })
  t.after(() => database.close())
  return database
}

test('a scenario over all verbs answers the same with every session setting turned', async (t) => {
  const own = await createTestDatabase(t)
  const expected = await scenario(own.database)
  const turned = await openTurned(t)
  const client = await turned.pool.connect()
  assert.equal((await client.query('show timezone')).rows[0]?.TimeZone, 'Asia/Tokyo')
  client.release()
  assert.deepEqual(plain(await scenario(turned)), plain(expected))
})

test('a group that starts at an instant given in any zone starts at that instant', async (t) => {
  for (const db of [(await createTestDatabase(t)).database, await openTurned(t)]) {
    await push(db, [item(1, 'a')])
    await push(db, [item(2, 'a')])
    const [, second] = await popped(db, 1)
    assert.ok(second)
    const at = new Date(Date.parse(second.createdAt)).toISOString().replace('Z', second.createdAt.slice(23))
    const inTokyo =
      new Date(Date.parse(second.createdAt) + 9 * 3_600_000).toISOString().slice(0, 23) +
      second.createdAt.slice(23, 26) +
      '+09:00'
    for (const [n, from] of [at, inTokyo].entries()) {
      const { answers } = await pop(db, {
        queue: 'orders.eu',
        partition: null,
        group: `from ${n}`,
        leaseIds: [id(300 + n)],
        batch: 10,
        partitions: 5,
        leaseSeconds: 30,
        autoAck: false,
        start: { from },
        floor: null,
        waitStaged: false,
      })
      assert.deepEqual(
        answers[0]?.map((delivery) => delivery.id),
        [id(2)],
        from,
      )
    }
  }
})
