// The SQL verbs about runs by themselves, on every PostgreSQL that is served: a job's life, fences, a graph by its shape, a limit,
// code that waits, and what psql sees.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from 'pg'
import { createTestDatabase } from '../../src/testing/database.ts'

interface Claimed {
  readonly run_id: string
  readonly ordinal: number
  readonly node_name: string
  readonly attempt: number
  readonly node_input: string
}

async function claim(sql: Client, want: string, lease: string, max = 10, leaseMs = 60_000): Promise<Claimed[]> {
  const { rows } = await sql.query<Claimed>(
    `select * from lockstep.claim_joined(array[$1], $2, $3, $4, '-infinity') where ordinal >= 0`,
    [want, lease, leaseMs, max],
  )
  return rows
}

async function complete(sql: Client, node: Claimed, lease: string, output = 'null'): Promise<string> {
  const { rows } = await sql.query<{ verdict: string }>(
    `select verdict from lockstep.complete_joined(array[$1::uuid], array[$2::int], array[$3], array[$4], '{}', '{}', '{}', '{}', 'none', 1000)`,
    [node.run_id, node.ordinal, lease, output],
  )
  return rows[0]?.verdict ?? ''
}

async function stateOf(sql: Client, runId: string): Promise<string> {
  return (await sql.query<{ state: string }>('select state from lockstep.run_status($1)', [runId])).rows[0]?.state ?? ''
}

test('a claim moves no node without a limit among the due ones, its first heartbeat does, and a lapsed one is found again', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  await sql.query(`select lockstep.enqueue('job', '1'), lockstep.enqueue('job', '2')`)
  const places = async (): Promise<unknown[]> =>
    (await sql.query('select available_at > lockstep.clock() as later from lockstep.node order by run_id')).rows
  const [node] = await claim(sql, 'job', 'L1', 1)
  assert.ok(node !== undefined)
  assert.deepEqual(await places(), [{ later: false }, { later: false }])
  const [other] = await claim(sql, 'job', 'L2', 10)
  assert.notEqual(other?.run_id, node.run_id)
  assert.deepEqual(await claim(sql, 'job', 'L3', 10), [])
  const beat = async (leaseMs: number): Promise<unknown> =>
    (
      await sql.query(`select held from lockstep.heartbeat_joined(array[$1::uuid], '{0}', '{L1}', $2)`, [
        node.run_id,
        leaseMs,
      ])
    ).rows[0]?.held
  assert.equal(await beat(60_000), true)
  assert.deepEqual(await places(), [{ later: true }, { later: false }])
  await sql.query(`update lockstep.node set lease_expires_at = lockstep.clock() where lease_id = 'L2'`)
  const [again] = await claim(sql, 'job', 'L4', 10)
  assert.deepEqual([again?.run_id, again?.attempt], [other?.run_id, 2])
  assert.equal(await complete(sql, node, 'L1'), 'ok')
})

test('plain jobs enqueued together end together: a repeat changes nothing, and what lost its lease is told by its place', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  const ids = ['018f0000-0000-7000-8000-000000000001', '018f0000-0000-7000-8000-000000000002']
  const enqueue = async (given: readonly string[], input: string): Promise<unknown> =>
    sql.query(`select lockstep.enqueue_joined($1::uuid[], $2::text[], 'job', 3, 0, 7, 100, 200)`, [
      given,
      given.map(() => input),
    ])
  const end = async (leases: readonly string[], output: string): Promise<unknown> =>
    (
      await sql.query(`select lockstep.complete_runs_joined($1::uuid[], $2::text[], $3::text[]) as lost`, [
        ids,
        leases,
        ids.map(() => output),
      ])
    ).rows[0]?.lost
  await enqueue(ids.slice(0, 1), '1')
  await enqueue(ids, '2')
  await enqueue(ids, '3')
  const nodes = await claim(sql, 'job', 'L1')
  assert.deepEqual(
    nodes.map((node) => [node.run_id, node.node_input]),
    [
      [ids[0], '1'],
      [ids[1], '2'],
    ],
  )
  assert.deepEqual(await end(['L1', 'other'], '"first"'), [2])
  assert.deepEqual(await end(['L1', 'L1'], '"second"'), [])
  assert.deepEqual(await end(['L1', 'other'], '"third"'), [2])
  const { rows } = await sql.query(
    'select state, output, priority, max_attempts, backoff_ms, backoff_max_ms from lockstep.node order by run_id',
  )
  const policy = { state: 'done', priority: 3, max_attempts: 7, backoff_ms: '100', backoff_max_ms: '200' }
  assert.deepEqual(rows, [
    { ...policy, output: '"first"' },
    { ...policy, output: '"second"' },
  ])
})

test('a job enqueued from psql exists with its transaction, is fenced by its token and ends once', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  await sql.query('begin')
  await sql.query(`select lockstep.enqueue('charge', '{"paymentId": 1}', 'k')`)
  await sql.query('rollback')
  assert.deepEqual(await claim(sql, 'charge', 'L1'), [])
  const { rows } = await sql.query(`select * from lockstep.enqueue('charge', '{"paymentId": 9007199254740993}', 'k')`)
  const again = await sql.query(`select * from lockstep.enqueue('charge', '{"paymentId": 2}', 'k')`)
  assert.deepEqual([again.rows[0].run_id, again.rows[0].created, again.rows[0].conflict], [rows[0].run_id, false, true])
  const [node] = await claim(sql, 'charge', 'L1')
  assert.ok(node !== undefined)
  assert.equal(node.node_input, '{"paymentId": 9007199254740993}')
  assert.equal(await stateOf(sql, node.run_id), 'running')
  assert.equal(await complete(sql, node, 'another'), 'lease_lost')
  assert.equal(await complete(sql, node, 'L1', '"done"'), 'ok')
  assert.equal(await complete(sql, node, 'L1', '"again"'), 'ok')
  const status = await sql.query('select state, output from lockstep.run_status($1)', [node.run_id])
  assert.deepEqual(status.rows, [{ state: 'completed', output: '"done"' }])
  await assert.rejects(
    sql.query(`select lockstep.complete($1, 0, 'another', 'null', '{}', '{}', '{}', 'x', 1)`, [node.run_id]),
    { code: 'LS423' },
  )
})

test('what no run can have is refused by its parameter, and the surrounding transaction is told by a code', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  await sql.query(`select lockstep.register_workflow('w', '', 'code', '{}')`)
  for (const [call, code, message] of [
    [`enqueue('flow:w', '1')`, 'LS400', /action must be a name that does not begin with 'plan:' or 'flow:'/],
    [`submit('plan:w@1', '1')`, 'LS400', /workflow must be a name/],
    [`enqueue('a', null)`, 'LS400', /p_input must be JSON/],
    [`submit('w', '1', '')`, 'LS400', /p_key must be a name of 1 to 512 bytes/],
    [`enqueue('a', '1', repeat('k', 600))`, 'LS401', /p_key is 600 bytes long/],
    [`enqueue('a', '1', p_priority => 101)`, 'LS400', /p_priority must be from -100 to 100/],
    [`submit('w', '1', p_delay => '-1 s')`, 'LS400', /p_delay must be from nothing to ten years/],
    [`enqueue('a', '1', p_delay => '11 years')`, 'LS400', /p_delay must be/],
    [`enqueue('a', '1', p_deadline => '0')`, 'LS400', /p_deadline must be from a millisecond/],
    [`enqueue('a', '1', p_tags => array['x', null])`, 'LS400', /p_tags must be at most 32 tags/],
    [`submit('w', '1', p_tags => array_fill('x'::text, array[33]))`, 'LS400', /p_tags must be at most 32 tags/],
    [`enqueue('a', to_json(repeat('x', 1100000)))`, 'LS413', /p_input must be at most 1048576 bytes/],
  ] as const) {
    await assert.rejects(sql.query(`select lockstep.${call}`), { code, message }, call)
  }
  const all = `'1', 'k', '1 s', -100, array['x'], '1 day'`
  await sql.query(`select lockstep.enqueue('a', ${all}), lockstep.submit('w', ${all})`)
})

test('a claim is taken over when its lease lapsed, and a completion in a repeatable read transaction is refused', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  await sql.query(`select lockstep.enqueue('a', '1')`)
  const [first] = await claim(sql, 'a', 'L1', 1, 1)
  await sql.query('select pg_sleep(0.02)')
  const [second] = await claim(sql, 'a', 'L2')
  assert.ok(first !== undefined && second !== undefined)
  assert.equal(second.attempt, 2)
  assert.equal(await complete(sql, first, 'L1'), 'lease_lost')
  await sql.query('begin isolation level repeatable read')
  await assert.rejects(complete(sql, second, 'L2'), { code: 'LS425' })
  await sql.query('rollback')
  assert.equal(await complete(sql, second, 'L2'), 'ok')
})

test('a graph is laid out from its registered shape, planned, and ends with its last node', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  const shape = {
    output: false,
    sinks: 1,
    nodes: [
      { name: 'a', action: 'act', after: [], children: [3] },
      { name: 'b', action: 'act', after: [], children: [3] },
      { name: 'c', action: 'act', after: [1, 2], children: [0] },
    ],
  }
  await sql.query('select lockstep.register_workflow($1, $2, $3, $4)', ['g', 'v1', 'graph', JSON.stringify(shape)])
  const { rows } = await sql.query(`select run_id from lockstep.submit('g', '{"n": 1}')`)
  const plan = async (count: number): Promise<void> => {
    const ready = await claim(sql, 'plan:g@v1', 'P')
    assert.equal(ready.length, count)
    for (const node of ready) {
      await sql.query(
        `select lockstep.plan_joined(array[$1::uuid], array[$2::int], array['P'], array['input'], array['7'], '{}', '{}', '{}')`,
        [node.run_id, node.ordinal],
      )
    }
  }
  await plan(2)
  const roots = await claim(sql, 'act', 'L')
  assert.deepEqual(roots.map((node) => node.node_name).toSorted(), ['a', 'b'])
  for (const node of roots) assert.equal(await complete(sql, node, 'L'), 'ok')
  await plan(1)
  const [last] = await claim(sql, 'act', 'L')
  assert.ok(last !== undefined)
  assert.equal(await complete(sql, last, 'L'), 'ok')
  assert.equal(await stateOf(sql, rows[0].run_id), 'completed')
  await assert.rejects(sql.query(`select lockstep.submit('nobody', '1')`), { code: 'LS404' })
})

test('a limit hands out as many as it allows, and a cancel frees the place', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  await sql.query('select lockstep.register_workflow($1, $2, $3, $4)', [
    'one',
    '',
    'action',
    '{"limitKey":"","limitMax":1}',
  ])
  await sql.query(`select lockstep.enqueue('one', '1') from generate_series(1, 3)`)
  // The first look files them; the limit hands them out.
  const taken = [...(await claim(sql, 'one', 'L1')), ...(await claim(sql, 'one', 'L2'))]
  assert.equal(taken.length, 1)
  // Another that is filed makes the limit due; there is no room all the same.
  await sql.query(`select lockstep.enqueue('one', '1')`)
  assert.deepEqual([...(await claim(sql, 'one', 'L1b')), ...(await claim(sql, 'one', 'L1c'))], [])
  await sql.query('select lockstep.cancel_run($1, null)', [taken[0]?.run_id])
  const next = await claim(sql, 'one', 'L3')
  assert.equal(next.length, 1)
  assert.equal(next[0] === undefined ? '' : await complete(sql, next[0], 'L3'), 'ok')
  assert.equal((await claim(sql, 'one', 'L4')).length, 1)
})

test('code that waits is woken by its signal, and each signal is taken once', async (t) => {
  const database = await createTestDatabase(t)
  const sql = await database.connect()
  await sql.query('select lockstep.register_workflow($1, $2, $3, $4)', ['code', '', 'code', '{}'])
  const { rows } = await sql.query(`select run_id from lockstep.submit('code', '1')`)
  const runId: string = rows[0].run_id
  assert.equal((await claim(sql, 'flow:code', 'L1')).length, 1)
  await sql.query(`select lockstep.suspend($1, 'L1', '{}', '{}', '{s}', '{go}', array[null::bigint], '{}', '{}')`, [
    runId,
  ])
  assert.equal(await stateOf(sql, runId), 'sleeping')
  assert.deepEqual(await claim(sql, 'flow:code', 'L2'), [])
  await sql.query(`select lockstep.signal_run($1, 'go', '"now"')`, [runId])
  assert.equal((await claim(sql, 'flow:code', 'L2')).length, 1)
  const take = async (step: string) =>
    (await sql.query(`select * from lockstep.take_signal($1, 'L2', $2, 'go')`, [runId, step])).rows[0]
  assert.deepEqual(await take('s'), { verdict: 'ok', payload: '"now"' })
  assert.deepEqual(await take('s'), { verdict: 'ok', payload: '"now"' })
  assert.deepEqual(await take('t'), { verdict: 'none', payload: null })
  await assert.rejects(sql.query(`select lockstep.record_step($1, 'L1', 'x', 'done', '1')`, [runId]), { code: 'LS423' })
  await sql.query(`select lockstep.record_step($1, 'L2', 'x', 'done', '1')`, [runId])
  await assert.rejects(sql.query(`select lockstep.record_step($1, 'L2', 'x', 'done', '1')`, [runId]), { code: 'LS423' })
})
