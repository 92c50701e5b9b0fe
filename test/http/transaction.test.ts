// WIRE section 7 with section 19.2 and 19.3: one commit or nothing, who loses first, what a rollback answers, repeats.
import type { Untyped } from '../../src/client/untyped.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitFor } from '../../src/testing/sessions.ts'
import { paceOf, serveSpread } from './served.ts'
import type { Served } from './served.ts'

const PATH = '/api/v1/transaction'

async function leased({ push, pop }: Served, queue = 'in', payloads: readonly unknown[] = ['m'], query = '') {
  const ids = await push(queue, payloads)
  const { json } = await pop(queue, `consumerGroup=g&${query}`)
  return { ids, leaseId: json.leaseId, partitionId: json.partitionId }
}

const ackOf = (batch: { ids: readonly string[]; leaseId: string; partitionId: string }, at = 0, more: object = {}) => ({
  type: 'ack',
  transactionId: batch.ids[at],
  partitionId: batch.partitionId,
  leaseId: batch.leaseId,
  consumerGroup: 'g',
  ...more,
})

const count = async ({ sql }: Served, queue: string): Promise<number> => {
  const [row] = await sql(
    `select (select count(*) from lockstep.message m join lockstep.queue q on q.id = m.queue_id where q.name = $1)::int
          + (select count(*) from lockstep.staged s where s.queue_name = $1)::int as n`,
    queue,
  )
  return row?.['n'] ?? 0
}

test('an ack, pushes and state commit together, in one flat order of results', async (t) => {
  const served = await serveSpread(t)
  const { post, pop } = served
  const batch = await leased(served)
  const { status, json } = await post(PATH, {
    operations: [
      ackOf(batch),
      {
        type: 'push',
        items: [
          { queue: 'out', payload: { n: 1 }, transactionId: 'o-1' },
          { queue: 'out', payload: 2 },
        ],
      },
      { type: 'push', queue: 'out', data: 'inline', transactionId: 'o-3' },
      { type: 'push', queue: 'out', transactionId: 'o-4' },
    ],
    requiredLeases: [batch.leaseId],
    kv: [
      { op: 'put', ns: 'orders', key: 'o', value: { s: 'shipping' }, ttlSeconds: 60, expect: 0 },
      { op: 'get', ns: 'orders', key: 'o' },
    ],
  })
  assert.equal(status, 200)
  assert.equal(json.success, true)
  assert.match(json.transactionId, /^[0-9a-f-]{36}$/)
  assert.deepEqual(
    json.results.map((one: Untyped) => [one.index, one.type]),
    [
      [0, 'ack'],
      [1, 'push'],
      [2, 'push'],
      [3, 'push'],
      [4, 'push'],
      [5, 'kv'],
      [6, 'kv'],
    ],
  )
  assert.deepEqual([json.results[0].success, json.results[0].dlq, json.results[0].error], [true, false, null])
  assert.equal(json.results[1].transactionId, 'o-1')
  assert.equal(json.results[1].queueName, 'out')
  assert.equal(json.results[2].transactionId, json.results[2].messageId)
  assert.deepEqual([json.results[5].opIndex, json.results[5].applied, json.results[5].op], [0, true, 'put'])
  assert.deepEqual(json.results[6].value, { s: 'shipping' })
  assert.equal((await pop('in', 'consumerGroup=g')).status, 204)
  const out = await pop('out', 'consumerGroup=g')
  assert.deepEqual(
    out.json.messages.map((message: Untyped) => message.data),
    [{ n: 1 }, 2, 'inline', {}],
  )
})

test('a lost version is judged first and answers the winner, whatever else would have lost', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const batch = await leased(served, 'in', ['m'], 'leaseSeconds=1')
  await post('/api/v1/push', { items: [{ queue: 'out', payload: 1, transactionId: 'dup' }] })
  const won = await post('/api/v1/kv', [{ op: 'put', ns: 'a', key: 'k', value: 'winner', forever: true }])
  const { version } = won.json.results[0]
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  const { status, json } = await post(PATH, {
    operations: [{ type: 'push', items: [{ queue: 'out', payload: 1, transactionId: 'dup' }] }, ackOf(batch)],
    kv: [
      { op: 'put', ns: 'a', key: 'other', value: 1, forever: true },
      { op: 'put', ns: 'a', key: 'k', value: 'loser', forever: true, expect: 0, required: true },
    ],
  })
  assert.equal(status, 200)
  assert.deepEqual(
    [json.success, json.ok, json.reason, json.failedIndex, json.kvReason, json.version, json.value, json.results],
    [false, false, 'kv_precondition', 3, 'exists', version, 'winner', []],
  )
  const other = await post('/api/v1/kv', [{ op: 'get', ns: 'a', key: 'other' }])
  assert.equal(other.json.results[0].found, false)
})

test('a lapsed lease refuses the whole step, before its pushes are judged', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const lapsed = await leased(served, 'one', ['m'], 'leaseSeconds=1')
  const live = await leased(served, 'two')
  await post('/api/v1/push', { items: [{ queue: 'out', payload: 1, transactionId: 'dup' }] })
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  const { status, json } = await post(PATH, {
    operations: [
      { type: 'push', items: [{ queue: 'out', payload: 1, transactionId: 'dup' }] },
      ackOf(live),
      ackOf(lapsed),
    ],
    kv: [{ op: 'put', ns: 'a', key: 'k', value: 1, forever: true }],
  })
  assert.equal(status, 200)
  assert.deepEqual([json.success, json.reason, json.failedIndex], [false, 'rejected_ack', 2])
  assert.match(json.error, /rolled back/)
  assert.equal(await count(served, 'out'), 1)
  const kv = await post('/api/v1/kv', [{ op: 'get', ns: 'a', key: 'k' }])
  assert.equal(kv.json.results[0].found, false)
  const after = await post('/api/v1/ack', { ...ackOf(live), type: undefined })
  assert.equal(after.json[0].success, true)
})

test('one unknown ack rolls the push and the good ack back', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const batch = await leased(served)
  const { json } = await post(PATH, {
    operations: [
      ackOf(batch),
      { type: 'push', items: [{ queue: 'out', payload: 1 }] },
      ackOf(batch, 0, { transactionId: 'nobody' }),
    ],
  })
  assert.deepEqual([json.success, json.reason], [false, 'rejected_ack'])
  assert.match(json.error, /rolled back/)
  assert.equal(await count(served, 'out'), 0)
})

test('a pushed id already known rolls back as duplicate; inside the call it is stored once', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const push = (payload: unknown) => ({ queue: 'out', payload, transactionId: 'k' })
  const twice = await post(PATH, { operations: [{ type: 'push', items: [push(1), push(1)] }] })
  assert.equal(twice.json.success, true)
  assert.equal(twice.json.results[1].duplicate, true)
  assert.equal(twice.json.results[1].messageId, twice.json.results[0].messageId)
  const known = await post(PATH, {
    operations: [{ type: 'push', items: [push(1)] }],
    kv: [{ op: 'put', ns: 'a', key: 'k', value: 1, forever: true }],
  })
  assert.equal(known.status, 200)
  assert.deepEqual([known.json.success, known.json.reason, known.json.failedIndex], [false, 'duplicate', 0])
  assert.equal('conflict' in known.json, false)
  const clash = await post(PATH, { operations: [{ type: 'push', items: [push(2)] }] })
  assert.deepEqual([clash.json.reason, clash.json.conflict], ['duplicate', true])
  assert.equal(await count(served, 'out'), 1)
  const kv = await post('/api/v1/kv', [{ op: 'get', ns: 'a', key: 'k' }])
  assert.equal(kv.json.results[0].found, false)
})

test('acks of several queues and leases, with every status, are one bundle', async (t) => {
  const served = await serveSpread(t)
  const { post, pop, get } = served
  await post('/api/v1/configure', { queue: 'failing', options: { retryLimit: 0 } })
  const one = await leased(served, 'one', [1, 2])
  const two = await leased(served, 'two')
  const failing = await leased(served, 'failing')
  const { json } = await post(PATH, {
    operations: [
      ackOf(one, 1),
      ackOf(two, 0, { status: 'dlq', error: 'poison' }),
      ackOf(failing, 0, { status: 'failed', error: 'exhausted at once' }),
    ],
  })
  assert.equal(json.success, true)
  assert.deepEqual(
    json.results.map((result: Untyped) => result.dlq),
    [false, true, true],
  )
  assert.equal((await get('/api/v1/dlq')).json.messages.length, 2)
  assert.equal((await pop('one', 'consumerGroup=g')).status, 204)
  assert.equal((await pop('one', 'consumerGroup=h')).json.messages.length, 2)
})

test('an ack takes the single lease that the request names, and is fenced by it', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const batch = await leased(served)
  const bare = { ...ackOf(batch), leaseId: undefined }
  const wrong = await post(PATH, { operations: [bare], requiredLeases: ['another-lease'] })
  assert.deepEqual([wrong.json.success, wrong.json.reason], [false, 'rejected_ack'])
  const right = await post(PATH, { operations: [bare], requiredLeases: [batch.leaseId] })
  assert.equal(right.json.success, true)
})

test('a required lease that no ack carries must be live too, or all of it is refused', async (t) => {
  const served = await serveSpread(t)
  const { post, sql } = served
  const held = await leased(served, 'a')
  const other = await leased(served, 'b')
  const ack = ackOf(held)
  const kv = [{ op: 'put', ns: 's', key: 'k', value: 1, forever: true }]
  const operations = [{ type: 'push', queue: 'out', payload: 1, transactionId: 'once' }]
  const refused = async (body: object, named: string): Promise<void> => {
    const { status, json } = await post(PATH, body)
    assert.deepEqual([status, json.success, json.reason, json.results], [200, false, 'rejected_ack', []])
    assert.match(json.error, new RegExp(`'${named}' is not live; everything was rolled back`))
  }
  await refused({ operations, kv, requiredLeases: ['never-given'] }, 'never-given')
  await refused({ operations: [...operations, ack], kv, requiredLeases: [held.leaseId, 'never-given'] }, 'never-given')
  await sql('update lockstep.lane set lease_expires_at = now() where lease_id = $1', other.leaseId)
  await refused({ operations, kv, requiredLeases: [held.leaseId, other.leaseId] }, other.leaseId)
  await refused({ operations, requestId: 'again', requiredLeases: [other.leaseId] }, other.leaseId)
  assert.deepEqual(
    await sql(`select 1 from lockstep.kv union all select 1 from lockstep.message where transaction_id = 'once'`),
    [],
  )
  const done = await post(PATH, { operations, kv, requestId: 'again', requiredLeases: [held.leaseId] })
  assert.deepEqual([done.json.success, done.json.results.length], [true, 2])
  // The lease may be gone when the answer is asked for again: the first one stands.
  await sql('update lockstep.lane set lease_expires_at = now() where lease_id = $1', held.leaseId)
  assert.equal(
    (await post(PATH, { operations, kv, requestId: 'again', requiredLeases: [held.leaseId] })).text,
    done.text,
  )
  // A dead lease is named before a push that is known already.
  await refused({ operations, requiredLeases: [held.leaseId] }, held.leaseId)
})

test('the same request id answers the first committed result; another body is a conflict', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const body = {
    requestId: 'r-1',
    operations: [{ type: 'push', items: [{ queue: 'out', payload: 1 }] }],
    kv: [{ op: 'incr', ns: 'a', key: 'n', delta: 1, forever: true }],
  }
  const first = await post(PATH, body)
  assert.equal(first.json.success, true)
  const again = await post(PATH, body)
  assert.equal(again.text, first.text)
  const other = await post(PATH, { ...body, kv: [] })
  assert.equal(other.status, 409)
  assert.equal(other.json.code, 'request_conflict')
  assert.equal(await count(served, 'out'), 1)
  const kv = await post('/api/v1/kv', [{ op: 'get', ns: 'a', key: 'n' }])
  assert.equal(kv.json.results[0].value, 1)
})

test('a request that rolled back is judged again', async (t) => {
  const served = await serveSpread(t)
  const { post } = served
  const held = await post('/api/v1/kv', [{ op: 'put', ns: 'a', key: 'k', value: 1, forever: true }])
  const body = {
    requestId: 'r-2',
    operations: [],
    kv: [{ op: 'put', ns: 'a', key: 'k', value: 2, forever: true, expect: 0, required: true }],
  }
  assert.equal((await post(PATH, body)).json.reason, 'kv_precondition')
  const { version } = held.json.results[0]
  await post('/api/v1/kv', [{ op: 'delete', ns: 'a', key: 'k', expect: version }])
  assert.equal((await post(PATH, body)).json.success, true)
})

test('of many arrivals of one request at once exactly one is applied', async (t) => {
  const served = await serveSpread(t)
  const body = {
    requestId: 'r-3',
    kv: [{ op: 'incr', ns: 'a', key: 'n', delta: 1, forever: true }],
    operations: [{ type: 'push', items: [{ queue: 'out', payload: 1 }] }],
  }
  const replies = await Promise.all(Array.from({ length: 10 }, () => served.post(PATH, body)))
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
  assert.equal(await count(served, 'out'), 1)
})

test('two workers race one step: one commits, the other hears the winner’s state', async (t) => {
  const served = await serveSpread(t)
  const step = (worker: string) =>
    served.post(PATH, {
      operations: [{ type: 'push', items: [{ queue: 'out', payload: worker, transactionId: worker }] }],
      kv: [{ op: 'put', ns: 'a', key: 'k', value: worker, forever: true, expect: 0, required: true }],
    })
  const [left, right] = await Promise.all([step('left'), step('right')])
  const winner = left?.json.success ? left.json : right?.json
  const loser = left?.json.success ? right?.json : left?.json
  assert.equal(winner.success, true)
  assert.deepEqual([loser.success, loser.reason], [false, 'kv_precondition'])
  assert.equal(loser.value, left?.json.success ? 'left' : 'right')
  assert.equal(await count(served, 'out'), 1)
})

test('many independent steps in flight all commit, those that share a key in some order', async (t) => {
  const served = await serveSpread(t)
  const replies = await Promise.all(
    Array.from({ length: 120 }, (_, i) =>
      served.post(PATH, {
        operations: [{ type: 'push', items: [{ queue: 'out', payload: i, partition: `p-${i % 7}` }] }],
        kv: [
          { op: 'incr', ns: 'a', key: `n-${i % 5}`, delta: 1, forever: true },
          { op: 'put', ns: 'b', key: `own-${i}`, value: i, forever: true },
        ],
      }),
    ),
  )
  assert.ok(replies.every(({ status, json }) => status === 200 && json.success))
  assert.equal(await count(served, 'out'), 120)
  const sums = await served.post('/api/v1/kv', [{ op: 'getMany', ns: 'a', keys: ['n-0', 'n-1', 'n-2', 'n-3', 'n-4'] }])
  assert.deepEqual(
    sums.json.results[0].rows.map((row: Untyped) => row.value),
    [24, 24, 24, 24, 24],
  )
})

test('a push of a step wakes a pop that waits for it', async (t) => {
  const served = await serveSpread(t)
  await served.pop('out', 'consumerGroup=g')
  const parked = served.pop('out', 'consumerGroup=g&wait=true&timeout=20000')
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  const pace = await paceOf(served)
  const at = performance.now()
  await served.post(PATH, { operations: [{ type: 'push', items: [{ queue: 'out', payload: 1 }] }] })
  assert.equal((await parked).status, 200)
  assert.ok(performance.now() - at < 600 + 10 * pace)
})

test('wrong shapes are 400 in the same envelope, and what is not served is told so', async (t) => {
  const { post } = await serveSpread(t)
  const push = { type: 'push', items: [{ queue: 'q', payload: 1 }] }
  const put = { op: 'put', ns: 'a', key: 'k', value: 1, forever: true }
  const cases: readonly [unknown, string, RegExp][] = [
    [{}, 'bad_request', /operations must be not empty/],
    [{ operations: [], requiredLeases: [] }, 'bad_request', /not empty/],
    [{ operations: {} }, 'bad_request', /operations must be an array/],
    [{ operations: [push], kv: {} }, 'bad_request', /kv must be an array/],
    [{ operations: [{ type: 'kv', op: 'put' }] }, 'bad_request', /operations\[0\]\.type must be one of push, ack/],
    [{ operations: [push, { type: 'ack', partitionId: '1000000000001' }] }, 'bad_request', /operations\[1\]/],
    [{ operations: [{ type: 'push', items: [{ payload: 1 }] }] }, 'bad_request', /operations\[0\]\.items\[0\]\.queue/],
    [{ operations: [push], positions: [{}] }, 'not_available', /positions/],
    [{ operations: [push], timers: {} }, 'bad_request', /timers must be an array/],
    [{ operations: [push], timers: [{}] }, 'timers_unknown_op', /timers\[0\]\.op/],
    [{ operations: [push], timers: [{ op: 'cancel', queue: 'q' }] }, 'timers_bad_key', /timers\[0\]\.timerKey/],
    [{ operations: [push], runs: [{}] }, 'bad_request', /runs/],
    [{ operations: [push], kv: [{ op: 'getPrefix', ns: 'a', prefix: 'k' }] }, 'kv_unknown_op', /getPrefix/],
    [{ operations: [push], kv: [put, put] }, 'kv_duplicate_key_in_call', /twice/],
    [{ operations: [push], kv: [{ ...put, forever: undefined }] }, 'kv_expiry_not_specified', /exactly one/],
    [
      { operations: [push], kv: Array.from({ length: 65 }, (_, i) => ({ ...put, key: `k${i}` })) },
      'kv_too_many_ops',
      /64/,
    ],
    ['{"operations":', 'bad_request', /no JSON/],
  ]
  for (const [body, reason, message] of cases) {
    const { status, json } = await post(PATH, body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.deepEqual([json.success, json.results, json.reason], [false, [], reason], JSON.stringify(body))
    assert.match(json.error, message)
    assert.match(json.transactionId, /^[0-9a-f-]{36}$/)
  }
  assert.equal((await post(PATH, { operations: [push], timers: [], runs: [] })).json.success, true)
})

test('a step to a partition that somebody holds is placed when that one is done, and nothing waits for it', async (t) => {
  const served = await serveSpread(t)
  await served.push('out', ['first'], 'p')
  const holder = await served.db.connect()
  await holder.query('begin')
  await holder.query('select 1 from lockstep.partition for no key update')
  const { json } = await served.post(PATH, {
    operations: [{ type: 'push', items: [{ queue: 'out', partition: 'p', payload: 'staged' }] }],
  })
  assert.equal(json.success, true)
  assert.equal('offset' in json.results[0], false)
  await holder.query('rollback')
  const data: unknown[] = []
  await waitFor('both messages', async () => {
    const reply = await served.pop('out', `consumerGroup=g&autoAck=true`)
    if (reply.status === 200) data.push(...reply.json.messages.map((message: Untyped) => message.data))
    return data.length === 2
  })
  assert.deepEqual(data, ['first', 'staged'])
})
