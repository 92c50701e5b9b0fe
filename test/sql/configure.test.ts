// Configure: what an absent, a null, a wrong option and each mode do; the echo is always the complete effective set, and
// the database's own table of options is the protocol's.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configure, type Configuration } from '../../src/operations/configure.ts'
import { push } from '../../src/operations/push.ts'
import { QUEUE_OPTIONS } from '../../src/protocol/queue-options.ts'
import { createTestDatabase } from '../../src/testing/database.ts'
import { item } from '../kit/speech.ts'

const DEFAULTS = Object.fromEntries(Object.entries(QUEUE_OPTIONS).map(([name, { fallback }]) => [name, fallback]))

async function open(t: Parameters<typeof createTestDatabase>[0]) {
  const own = await createTestDatabase(t)
  const set = (options: Configuration['options'], more: Partial<Configuration> = {}) =>
    configure(own.database, { queue: 'q', namespace: null, task: null, mode: 'merge', ...more, options })
  return { ...own, set }
}

test('the table of options in SQL is the one of the protocol, and the columns carry its defaults', async (t) => {
  const { connect } = await open(t)
  const client = await connect()
  const { rows } = await client.query<(string | null)[]>({
    text: `select o.name, o.column_name, o.kind, o.fallback::text, o.least_value::text, o.greatest_value::text,
                  to_jsonb(q.*) -> o.column_name #>> '{}' from lockstep._queue_option() o,
                  lateral (select * from lockstep.queue limit 1) q`,
    rowMode: 'array',
  })
  assert.deepEqual(rows, [], 'no queue yet')
  await client.query(`insert into lockstep.queue (name, created_at) values ('plain', now())`)
  const { rows: options } = await client.query<(string | null)[]>({
    text: `select o.name, o.column_name, o.kind, o.fallback::text, o.least_value::text, o.greatest_value::text,
                  to_jsonb(q.*) -> o.column_name #>> '{}' from lockstep._queue_option() o, lockstep.queue q`,
    rowMode: 'array',
  })
  const text = (value: number | undefined) => (value === undefined ? null : String(value))
  const wanted = Object.entries(QUEUE_OPTIONS).map(([name, option]) => {
    const { column, kind, fallback, min, max } = { min: undefined, max: undefined, ...option }
    return [name, column, kind, JSON.stringify(fallback), text(min), text(max), String(fallback)]
  })
  assert.deepEqual(options, wanted)
})

test('a bare configure makes a queue with every default, and the same again changes nothing', async (t) => {
  const { set } = await open(t)
  const first = await set({})
  assert.deepEqual(first.options, DEFAULTS)
  assert.deepEqual([first.queue, first.namespace, first.task], ['q', '', ''])
  assert.match(first.createdAt, /Z$/)
  assert.deepEqual(await set({}), first)
})

test('merge keeps what is absent, null goes back to the default', async (t) => {
  const { set } = await open(t)
  await set({ leaseTime: 17, retryLimit: 9, requireLease: true, retentionSinkHold: 'ü"\\' })
  const next = await set({ retryLimit: null, maxSize: 5 })
  assert.deepEqual(next.options, {
    ...DEFAULTS,
    leaseTime: 17,
    requireLease: true,
    retentionSinkHold: 'ü"\\',
    maxSize: 5,
  })
})

test('replace puts back what is not named; id, creation time and labels survive', async (t) => {
  const { set } = await open(t)
  const first = await set({ leaseTime: 17, requireLease: true }, { namespace: 'ns', task: 'work' })
  const next = await set({ retryLimit: 9 }, { mode: 'replace' })
  assert.deepEqual(next.options, { ...DEFAULTS, retryLimit: 9 })
  assert.deepEqual(
    [next.queueId, next.createdAt, next.namespace, next.task],
    [first.queueId, first.createdAt, 'ns', 'work'],
  )
})

test('a dotted name carries its labels, named ones win and empty ones are ignored', async (t) => {
  const { set } = await open(t)
  const dotted = await set({}, { queue: 'billing.charge.eu' })
  assert.deepEqual([dotted.namespace, dotted.task], ['billing', 'charge'])
  const named = await set({}, { queue: 'billing.charge.eu', namespace: 'money', task: '' })
  assert.deepEqual([named.namespace, named.task], ['money', 'charge'])
})

test('the lease of a queue that a push made is 60 until a configure says otherwise', async (t) => {
  const { database, set } = await open(t)
  await push(database, [item('q', 'p', 'm')])
  assert.equal((await set({ retryLimit: 1 })).options.leaseTime, 60)
  assert.equal((await set({ leaseTime: null })).options.leaseTime, 300)
})

test('a negative window means none, and the pop wait is held in its bounds', async (t) => {
  const { set } = await open(t)
  const { options } = await set({ dedupWindowSeconds: -7, minPopWaitTime: 99_999 })
  assert.equal(options.dedupWindowSeconds, 0)
  assert.equal(options.minPopWaitTime, 60_000)
  assert.equal((await set({ minPopWaitTime: -5 })).options.minPopWaitTime, 0)
})

test('a wrong option or mode is refused with its name, and changes nothing', async (t) => {
  const { connect, set } = await open(t)
  const before = await set({ leaseTime: 17 })
  const client = await connect()
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['{"leaseTime": "5"}', /leaseTime must be an integer/],
    ['{"leaseTime": 0}', /leaseTime must be from 1 to 604800/],
    ['{"leaseTime": -1}', /leaseTime/],
    ['{"leaseTime": 1e12}', /leaseTime/],
    ['{"leaseTime": 1.5}', /leaseTime must be an integer/],
    ['{"leaseTime": true}', /leaseTime must be an integer/],
    ['{"leaseTime": 99999999999999999999}', /leaseTime/],
    ['{"requireLease": 1}', /requireLease must be a boolean/],
    ['{"requireLease": "true"}', /requireLease must be a boolean/],
    ['{"retentionSinkHold": 5}', /retentionSinkHold must be text/],
    ['{"retryLimit": 5, "priority": 2147483648}', /priority/],
    ['[]', /options must be an object/],
  ]
  for (const [options, message] of refusals) {
    await assert.rejects(client.query('select lockstep.configure($1, $2::json)', ['q', options]), message)
  }
  await assert.rejects(client.query(`select lockstep.configure('q', '{}', p_mode => 'reset')`), /"reset"/)
  await assert.rejects(client.query(`select lockstep.configure(null)`), /queue must be a name/)
  await assert.rejects(client.query(`select lockstep.configure($1)`, ['q'.repeat(513)]), /512/)
  assert.deepEqual(await set({}), before)
})

test('names are values: hostile ones make queues of exactly that name', async (t) => {
  const { set } = await open(t)
  const hostile = [
    '',
    ' ',
    `a'; drop table x;--`,
    'a"b',
    '%2e%2e',
    'A',
    'a',
    '\u00e9',
    'e\u0301',
    '😀',
    '\u200f',
    'q'.repeat(512),
  ]
  const ids = new Set<string>()
  for (const queue of hostile) {
    const made = await set({}, { queue })
    assert.equal(made.queue, queue)
    ids.add(made.queueId)
  }
  assert.equal(ids.size, hostile.length)
})

test('two sessions that configure a new queue at once make one', async (t) => {
  const { set } = await open(t)
  const made = await Promise.all(Array.from({ length: 8 }, (_, at) => set({ retryLimit: at }, { queue: 'fresh' })))
  assert.equal(new Set(made.map(({ queueId }) => queueId)).size, 1)
})
