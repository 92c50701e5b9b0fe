// Runs over HTTP: submission, handles and workers in other languages, against a real broker. The graph below is planned by one
// worker in TypeScript and worked on by plain HTTP calls only.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lockstep, action, workflow } from 'lockstep'
import { z } from 'zod'
import { serveSpread } from './served.ts'

const N = z.object({ n: z.number() })
const add = action({ name: 'add', input: N, queue: 'elsewhere' }, () => ({ n: 0 }))
const graph = workflow({ name: 'remote', input: N })
  .node('one', add, ({ input }) => input)
  .node('two', add, ({ outputs }) => outputs.one, { after: ['one'] })
  .output(({ outputs }) => outputs.two.n)

test('a job is enqueued, claimed, kept alive and completed by plain calls, bytes unchanged', async (t) => {
  const { post, get } = await serveSpread(t)
  const body =
    '{"workflow":"py","kind":"action","input":{"big":9007199254740993,"e":1e400,"z":-0},"key":"k1","tags":["a"]}'
  const made = await post('/api/v1/runs', body)
  assert.equal(made.status, 201)
  const { runId } = made.json
  assert.deepEqual(made.json, { runId, created: true, conflict: false })
  assert.deepEqual((await post('/api/v1/runs', body)).json, { runId, created: false, conflict: false })
  const other = await post('/api/v1/runs', { workflow: 'py', kind: 'action', input: 2, key: 'k1' })
  assert.deepEqual(other.json, { runId, created: false, conflict: true })
  const claimed = await post('/api/v1/tasks/claim', { actions: ['py'], max: 5, leaseMs: 30_000 })
  assert.ok(claimed.text.includes('"input":{"big":9007199254740993,"e":1e400,"z":-0}'), claimed.text)
  const [task] = claimed.json.tasks
  assert.equal(task.idempotencyKey, `${runId}:py`)
  assert.deepEqual((await post('/api/v1/tasks/claim', { actions: ['py'] })).json, { tasks: [] })
  assert.deepEqual((await post('/api/v1/tasks/heartbeat', { ...task, leaseMs: 60_000 })).json, {
    results: [{ held: true }],
  })
  const waiting = get(`/api/v1/runs/${runId}/result?wait=true&timeout=10000`)
  const end = `{"runId":"${runId}","ordinal":0,"leaseId":"${task.leaseId}","output":[1.10,"\\u0000"]}`
  assert.deepEqual((await post('/api/v1/tasks/complete', end)).json, { results: [{ success: true }] })
  const result = await waiting
  assert.equal(result.status, 200)
  assert.ok(result.text.includes('"output":[1.10,"\\u0000"]'), result.text)
  assert.deepEqual((await post('/api/v1/tasks/complete', { ...task, leaseId: 'another', output: 1 })).json, {
    results: [{ success: false, reason: 'lease_lost' }],
  })
})

test('failures over HTTP are retried or final, and what is wrong is told by its place', async (t) => {
  const { post, get } = await serveSpread(t)
  const { json } = await post('/api/v1/runs', { workflow: 'f', kind: 'action', maxAttempts: 2, backoffMs: 1 })
  const first = await post('/api/v1/tasks/claim', { actions: ['f'], waitMs: 5_000 })
  const failed = await post('/api/v1/tasks/fail', {
    ...first.json.tasks[0],
    error: 'no',
    code: 'mine',
    retryAfterMs: 0,
  })
  assert.deepEqual(failed.json, { results: [{ success: true, retry: true }] })
  const second = await post('/api/v1/tasks/claim', { actions: ['f'], waitMs: 5_000 })
  assert.equal(second.json.tasks[0].attempt, 2)
  await post('/api/v1/tasks/fail', { tasks: [{ ...second.json.tasks[0], error: 'no', code: 'mine' }] })
  const shown = await get(`/api/v1/runs/${json.runId}`)
  assert.equal(shown.json.state, 'failed')
  assert.deepEqual(shown.json.error, { code: 'mine', message: 'no' })
  assert.equal((await post(`/api/v1/runs/${json.runId}/retry`, {})).json.state, 'running')
  assert.equal((await post(`/api/v1/runs/${json.runId}/cancel`, { reason: 'enough' })).json.state, 'cancelled')
  for (const [path, body, field] of [
    ['/api/v1/runs', { input: 1 }, 'workflow'],
    ['/api/v1/runs', { runs: [{ workflow: 'x' }, { workflow: 'x', delayMs: -1 }] }, 'runs[1].delayMs'],
    [
      '/api/v1/runs',
      { workflow: 'flow:x', kind: 'action' },
      "workflow must be a name that does not begin with 'plan:'",
    ],
    ['/api/v1/tasks/claim', { actions: ['plan:x@1'] }, 'actions[0]'],
    ['/api/v1/tasks/claim', { actions: ['x'], max: 0 }, 'max'],
    ['/api/v1/tasks/claim', { actions: ['x'], leaseMs: 1e12 }, 'leaseMs'],
    ['/api/v1/tasks/heartbeat', { tasks: [{ runId: 'x' }] }, 'tasks[0].runId'],
  ] as const) {
    const reply = await post(path, body)
    assert.equal(reply.status, 400, reply.text)
    assert.ok(reply.text.includes(field), reply.text)
  }
  assert.equal((await get('/api/v1/runs/nope')).status, 404)
  assert.equal((await post('/api/v1/runs', { workflow: 'nobody' })).status, 404)
})

test('a graph whose every action runs in plain HTTP, planned in TypeScript, submitted from psql', async (t) => {
  const { post, url, db, sql } = await serveSpread(t)
  const planner = new Lockstep({ connectionString: db.connectionString, logger: { warn() {} } })
  t.after(async () => planner.close({ timeoutMs: 500 }))
  await planner.worker({ workflows: [graph], poll: '20ms' }).start()
  const [row] = await sql(`select run_id from lockstep.submit('remote', '{"n": 1}')`)
  for (let step = 0; step < 2; step += 1) {
    const { json } = await post('/api/v1/tasks/claim', { actions: ['add'], waitMs: 10_000 })
    const [task] = json.tasks
    assert.equal(task.node, step === 0 ? 'one' : 'two')
    await post('/api/v1/tasks/complete', { ...task, output: { n: task.input.n + 10 } })
  }
  const remote = new Lockstep({ url })
  assert.equal(await remote.run<number>(String(row?.['run_id'])).result({ timeout: '10s' }), 21)
})

test('the client over HTTP has the same handles', async (t) => {
  const { url, db } = await serveSpread(t)
  const here = new Lockstep({ connectionString: db.connectionString, logger: { warn() {} } })
  t.after(async () => here.close({ timeoutMs: 500 }))
  const double = action({ name: 'double', input: N }, (_ctx, { n }) => {
    if (n < 0) throw new RangeError('below zero')
    return { n: n * 2 }
  })
  const both = workflow({ name: 'both', input: N })
    .node('a', double, ({ input }) => input)
    .map('m', double, ({ outputs }) => [{ key: 'x', input: outputs.a }], { after: ['a'] })
  const listens = workflow({ name: 'listens', input: N }, async (ctx) => ctx.waitForSignal<string>('s'))
  await here.worker({ workflows: [both, listens], actions: [double], poll: '20ms' }).start()
  const remote = new Lockstep({ url })
  const job = await double.enqueue(remote, { n: 2 }, { key: 'one' })
  assert.deepEqual(await job.result({ timeout: '10s' }), { n: 4 })
  assert.equal((await double.enqueue(remote, { n: 2 }, { key: 'one' })).created, false)
  await assert.rejects(double.enqueue(remote, { n: 3 }, { key: 'one' }), { code: 'run_conflict' })
  await assert.rejects(double.enqueue(remote, { n: 2 }, { key: 'one', onKnownKey: 'refuse' }), { code: 'run_conflict' })
  const run = await both.submit(remote, { n: 1 })
  assert.deepEqual(await run.result({ timeout: '10s' }), { a: { n: 2 }, m: { x: { n: 4 } } })
  const bad = await double.enqueue(remote, { n: -1 })
  await bad.cancel()
  const failing = action({ name: 'double', input: N, retry: { attempts: 1 } }, () => ({ n: 0 }))
  await assert.rejects((await failing.enqueue(remote, { n: -1 })).result({ timeout: '10s' }), (error: Error) => {
    assert.equal(String(error.cause), 'RangeError: below zero')
    return true
  })
  const waiting = await listens.submit(remote, { n: 1 })
  assert.equal(await waiting.signal('s', 'heard'), true)
  assert.equal(await waiting.result({ timeout: '10s' }), 'heard')
  await assert.rejects(remote.run('01890000-0000-7000-8000-000000000000').status(), {
    name: 'RunNotFoundError',
    reason: 'unknown',
  })
  const tx = await db.connect()
  await tx.query('begin')
  const joined = await remote.in(tx).submit(both, { n: 1 })
  await assert.rejects(joined.wait(), { name: 'RunNotFoundError', reason: 'uncommitted' })
  await tx.query('commit')
  assert.equal((await joined.wait({ timeout: '10s' })).state, 'completed')
})

test('runs in a transaction are submitted in its commit, once per request id, or not at all', async (t) => {
  const { post, sql } = await serveSpread(t)
  const step = {
    requestId: 'r1',
    operations: [{ type: 'push', queue: 'q', payload: 1, transactionId: 't1' }],
    kv: [{ op: 'put', ns: 'o', key: 'k', value: 1, forever: true }],
    runs: [{ workflow: 'job', kind: 'action', input: { a: 1 }, key: 'k' }],
  }
  const first = await post('/api/v1/transaction', step)
  assert.equal(first.json.success, true, first.text)
  assert.deepEqual(
    first.json.results.map((result: { type: string }) => result.type),
    ['push', 'kv', 'run'],
  )
  assert.equal((await post('/api/v1/transaction', step)).text, first.text)
  const conflict = await post('/api/v1/transaction', {
    operations: [{ type: 'push', queue: 'q', payload: 2, transactionId: 't2' }],
    runs: [{ workflow: 'job', kind: 'action', input: { a: 2 }, key: 'k' }],
  })
  assert.deepEqual([conflict.json.success, conflict.json.reason], [false, 'run_conflict'])
  const lost = await post('/api/v1/transaction', {
    kv: [{ op: 'put', ns: 'o', key: 'k', value: 2, forever: true, expect: 999, required: true }],
    runs: [{ workflow: 'job', kind: 'action', input: 3 }],
  })
  assert.deepEqual([lost.json.success, lost.json.reason], [false, 'kv_precondition'])
  const unknown = await post('/api/v1/transaction', { runs: [{ workflow: 'nobody', input: 3 }] })
  assert.deepEqual([unknown.status, unknown.json.reason], [404, 'not_found'], unknown.text)
  assert.match(unknown.json.error, /no process has registered nobody: start a worker/)
  assert.deepEqual(
    await sql(
      'select (select count(*)::int from lockstep.node) as runs, (select count(*)::int from lockstep.message) as messages',
    ),
    [{ runs: 1, messages: 1 }],
  )
})

test('runs are listed newest first, by workflow, state and tag, in pages that skip and repeat nothing', async (t) => {
  const { get, post } = await serveSpread(t)
  const jobs = Array.from({ length: 7 }, (_, n) => ({
    workflow: 'listed',
    kind: 'action',
    input: n,
    tags: [`t${n % 2}`],
  }))
  // One commit: all of one instant.
  const made = await post('/api/v1/runs', { runs: jobs })
  const ids: string[] = made.json.runs.map((run: { runId: string }) => run.runId)
  await post('/api/v1/runs', { workflow: 'other', kind: 'action' })
  await post(`/api/v1/runs/${ids[0]}/cancel`, { reason: 'enough' })

  const seen: string[] = []
  const sizes: number[] = []
  for (let next = ''; ;) {
    const { status, json } = await get(
      `/api/v1/runs?workflow=listed&limit=3${next === '' ? '' : `&before=${encodeURIComponent(next)}`}`,
    )
    assert.equal(status, 200)
    sizes.push(json.runs.length)
    seen.push(...json.runs.map((run: { runId: string }) => run.runId))
    if (json.next === null) break
    next = json.next
  }
  assert.deepEqual(sizes, [3, 3, 1])
  assert.deepEqual(seen, ids.toSorted().toReversed())
  const listed = async (query: string): Promise<readonly string[]> =>
    (await get(`/api/v1/runs?${query}`)).json.runs.map((run: { runId: string }) => run.runId)
  assert.deepEqual(await listed('workflow=listed&state=cancelled'), [ids[0]])
  assert.equal((await listed('tag=t1')).length, 3)
  assert.equal((await listed('')).length, 8)
  const [cancelled] = (await get('/api/v1/runs?state=cancelled')).json.runs
  assert.deepEqual([cancelled.state, cancelled.error.code, cancelled.tags], ['cancelled', 'cancelled', ['t0']])
  for (const [query, told] of [
    ['state=done', /state/],
    ['before=yesterday', /before/],
    [`before=2026-99-01T00:00:00Z|${ids[0]}`, /before/],
    ['limit=0', /limit/],
  ] as const) {
    const { status, json } = await get(`/api/v1/runs?${query}`)
    assert.equal(status, 400)
    assert.match(json.error, told)
  }
})
