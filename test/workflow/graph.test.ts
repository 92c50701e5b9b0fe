// Declared graphs against a real database: fan-out and fan-in, conditions, maps, the policy of each node, compensation in
// reverse order, outputs, and faults of planning functions by name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, PermanentError } from 'lockstep'
import { z } from 'zod'
import { causeOf, workshop } from './workshop.ts'

const N = z.object({ n: z.number() })
const double = action({ name: 'double', input: N }, (_ctx, { n }) => ({ n: n * 2 }))
const broken = action({ name: 'broken', input: N }, () => {
  throw new PermanentError('it never works')
})
const sum = action({ name: 'sum', input: z.object({ all: z.array(z.number()) }) }, (_ctx, { all }) =>
  all.reduce((a, b) => a + b, 0),
)

test('every branch of a fan-out meets again in one node, whoever ends last', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const graph = workflow({ name: 'fan', input: N })
    .node('start', double, ({ input }) => input)
    .node('a', double, ({ outputs }) => outputs.start, { after: ['start'] })
    .node('b', double, ({ outputs }) => ({ n: outputs.start.n + 1 }), { after: ['start'] })
    .node('c', double, ({ outputs }) => ({ n: outputs.start.n + 2 }), { after: ['start'] })
    .node('end', sum, ({ outputs: { a, b, c } }) => ({ all: [a.n, b.n, c.n] }), { after: ['a', 'b', 'c'] })
    .output(({ outputs }) => ({ total: outputs.end }))
  await worker({ workflows: [graph], concurrency: 20 })
  const runs = await graph.submitMany(
    lockstep,
    Array.from({ length: 50 }, (_, n) => ({ n })),
  )
  const results = await Promise.all(runs.map(async (run) => run.result({ timeout: '20s' })))
  assert.deepEqual(
    results,
    runs.map((_, n) => ({ total: 12 * n + 6 })),
  )
})

test('a node whose condition is false is skipped, and what only hangs on it too', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const graph = workflow({ name: 'cond', input: N })
    .node('maybe', double, ({ input }) => input, { when: ({ input }) => input.n > 0 })
    .node('behind', double, ({ outputs }) => ({ n: outputs.maybe?.n ?? -1 }), { after: ['maybe'] })
    .node('other', double, ({ input }) => input)
    .node('join', sum, ({ outputs }) => ({ all: [outputs.behind?.n ?? 0, outputs.other.n] }), {
      after: ['behind', 'other'],
    })
  await worker({ workflows: [graph] })
  const taken = await graph.submit(lockstep, { n: 1 })
  assert.deepEqual(await taken.result({ timeout: '10s' }), {
    maybe: { n: 2 },
    behind: { n: 4 },
    other: { n: 2 },
    join: 6,
  })
  const all = workflow({ name: 'cond2', input: N })
    .node('maybe', double, ({ input }) => input, { when: () => false })
    .node('behind', double, () => ({ n: 1 }), { after: ['maybe'] })
    .map('each', double, () => [{ key: 'k', input: { n: 1 } }], { after: ['maybe'] })
    .node('other', double, ({ input }) => input)
  await worker({ workflows: [all] })
  assert.deepEqual(await (await all.submit(lockstep, { n: 5 })).result({ timeout: '10s' }), {
    each: {},
    other: { n: 10 },
  })
})

test('a map of a thousand items keeps every key and joins once', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const graph = workflow({ name: 'wide', input: z.object({ count: z.number() }) })
    .map('each', double, ({ input }) => Array.from({ length: input.count }, (_, n) => ({ key: `k${n}`, input: { n } })))
    .node('total', sum, ({ outputs }) => ({ all: Object.values(outputs.each).map((one) => one.n) }), {
      after: ['each'],
    })
  await worker({ workflows: [graph], concurrency: 50 })
  const run = await graph.submit(lockstep, { count: 1_000 })
  const result = await run.result({ timeout: '60s' })
  assert.equal(result.total, 999_000)
  assert.equal(Object.keys(result.each).length, 1_000)
  assert.deepEqual(result.each['k7'], { n: 14 })
  const { rows } = await sql.query(
    `select count(*)::int as n, min(name) as first from lockstep.node where kind = 'item' and state = 'done'`,
  )
  assert.deepEqual(rows, [{ n: 1_000, first: 'each[k0]' }])
  assert.equal((await (await graph.submit(lockstep, { count: 0 })).result({ timeout: '10s' })).total, 0)
})

test('fail, skip and continue: what a failed node does to its run', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const failing = workflow({ name: 'p1', input: N })
    .node('x', broken, ({ input }) => input)
    .node('y', double, ({ input }) => input, { after: ['x'] })
  const going = workflow({ name: 'p2', input: N })
    .node('x', broken, ({ input }) => input, { onFailure: 'continue' })
    .node('y', double, ({ input, outputs }) => (outputs.x === undefined ? input : { n: 0 }), { after: ['x'] })
  const skipping = workflow({ name: 'p3', input: N })
    .node('x', broken, ({ input }) => input, { onFailure: 'skip' })
    .node('y', double, ({ input }) => input, { after: ['x'] })
    .node('z', double, ({ input }) => input)
  const mapping = workflow({ name: 'p4', input: N }).map('m', broken, ({ input }) => [{ key: 'a', input }], {
    onFailure: 'continue',
  })
  await worker({ workflows: [failing, going, skipping, mapping] })
  await assert.rejects((await failing.submit(lockstep, { n: 1 })).result({ timeout: '10s' }), (error: Error) => {
    assert.match(error.message, /node x failed: it never works$/)
    assert.match(String(causeOf(error)), /node x failed/)
    assert.match(String(causeOf(causeOf(error))), /it never works/)
    return true
  })
  assert.deepEqual(await (await going.submit(lockstep, { n: 1 })).result({ timeout: '10s' }), { y: { n: 2 } })
  assert.deepEqual(await (await skipping.submit(lockstep, { n: 1 })).result({ timeout: '10s' }), { z: { n: 2 } })
  const mapped = await (await mapping.submit(lockstep, { n: 1 })).result({ timeout: '10s' })
  const item = mapped.m['a']
  assert.ok(item !== undefined && !item.ok)
  assert.match(item.error.message, /it never works/)
})

test('what was done is undone in reverse order, and the run says whether all of it was', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const undone: string[] = []
  const undo = action({ name: 'undo', input: z.object({ input: N, output: N }) }, (ctx, { input, output }) => {
    undone.push(`${ctx.node} ${input.n}->${output.n}`)
  })
  const stuck = action({ name: 'stuck', input: z.object({ input: N, output: N }), retry: { attempts: 1 } }, () => {
    throw new Error('cannot be undone')
  })
  const graph = workflow({ name: 'saga', input: N })
    .node('one', double, ({ input }) => input, { compensate: undo })
    .node('two', double, ({ outputs }) => outputs.one, { after: ['one'], compensate: undo })
    .node('three', double, ({ outputs }) => outputs.two, { after: ['two'], compensate: undo })
    .node('bad', broken, ({ input }) => input, { after: ['three'], onFailure: 'compensate' })
  const half = workflow({ name: 'half', input: N })
    .node('one', double, ({ input }) => input, { compensate: undo })
    .node('two', double, ({ outputs }) => outputs.one, { after: ['one'], compensate: stuck })
    .node('bad', broken, ({ input }) => input, { after: ['two'] })
  await worker({ workflows: [graph, half] })
  const run = await graph.submit(lockstep, { n: 1 })
  await assert.rejects(run.result({ timeout: '10s' }), {
    code: 'run_failed',
    details: { runId: run.id, workflow: 'saga', compensation: 'complete' },
  })
  assert.deepEqual(undone, ['compensate:three 4->8', 'compensate:two 2->4', 'compensate:one 1->2'])
  const other = await half.submit(lockstep, { n: 3 })
  await assert.rejects(other.result({ timeout: '10s' }), {
    details: { runId: other.id, workflow: 'half', compensation: 'incomplete' },
  })
  assert.equal(undone.at(-1), 'compensate:one 3->6')
})

test('a planning function that throws fails its node by name, before any action ran', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const graph = workflow({ name: 'thrower', input: N })
    .node('first', double, ({ input }) => input)
    .node(
      'second',
      double,
      () => {
        throw new Error('no such field')
      },
      { after: ['first'] },
    )
  const wrong = workflow({ name: 'wrong', input: N })
    .node('first', double, ({ input }) => input)
    // A number is promised and text is given, as a cast would let it.
    .node('second', double, () => JSON.parse('{"n":"text"}'), { after: ['first'] })
  await worker({ workflows: [graph, wrong] })
  await assert.rejects((await graph.submit(lockstep, { n: 1 })).result({ timeout: '10s' }), (error: Error) => {
    assert.match(
      JSON.stringify(error.cause, ['message', 'cause']) + String(causeOf(causeOf(error))),
      /the input function of node 'second' of workflow 'thrower' failed: no such field/,
    )
    return true
  })
  await assert.rejects((await wrong.submit(lockstep, { n: 1 })).result({ timeout: '10s' }))
  const { rows } = await sql.query(`select error from lockstep.node where name = 'second' order by run_id`)
  assert.equal(rows.length, 2)
  assert.match(rows[1].error, /input\.n/)
})

test('a graph submitted from psql by name is planned and checked by whoever has its code', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const graph = workflow({ name: 'by_name', input: N })
    .node('first', double, ({ input }) => input)
    .node('second', double, ({ outputs }) => outputs.first, { after: ['first'] })
  await worker({ workflows: [graph] })
  const { rows } = await sql.query(`select run_id from lockstep.submit('by_name', '{"n": 4}')`)
  assert.deepEqual(await lockstep.run(rows[0].run_id).result({ timeout: '10s' }), {
    first: { n: 8 },
    second: { n: 16 },
  })
  const bad = await sql.query(`select run_id from lockstep.submit('by_name', '{"n": "x"}')`)
  await assert.rejects(lockstep.run(bad.rows[0].run_id).result({ timeout: '10s' }), { code: 'run_failed' })
  const named = await lockstep.workflow<typeof graph>('by_name').submit({ n: 1 })
  assert.deepEqual(await named.result({ timeout: '10s' }), { first: { n: 2 }, second: { n: 4 } })
  const nobody: string = 'nobody'
  await assert.rejects(sql.query('select lockstep.submit($1, $2)', [nobody, '{}']), { code: 'LS404' })
})
