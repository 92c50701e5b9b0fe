// What becomes of runs that failed: what they did is undone item by item, a retry goes on where it stopped in every kind of
// run, and what was undone or brought by a child is never done again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, PermanentError } from 'lockstep'
import { z } from 'zod'
import { until } from '../conformance/until.ts'
import { causeOf, workshop } from './workshop.ts'

const N = z.object({ n: z.number() })
const double = action({ name: 'double', input: N }, (_ctx, { n }) => ({ n: n * 2 }))
const Undo = z.object({ input: N, output: N })

test('the items of a map that are done are undone one by one, also when it is an item that failed', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const undone: string[] = []
  const undo = action({ name: 'undo', input: Undo }, (ctx, { input, output }) => {
    undone.push(`${ctx.node} ${input.n}->${output.n}`)
  })
  const picky = action({ name: 'picky', input: N, retry: { attempts: 3, backoff: '50ms' } }, (_ctx, { n }) => {
    if (n === 3) throw new Error('not this one')
    return { n: n * 2 }
  })
  const all = workflow({ name: 'all', input: N })
    .map('m', double, () => ['a', 'b'].map((key, n) => ({ key, input: { n } })), { compensate: undo })
    .node('end', picky, () => ({ n: 3 }), { after: ['m'] })
  const some = workflow({ name: 'some', input: N }).map(
    'm',
    picky,
    () => [1, 2, 3].map((n) => ({ key: `${n}`, input: { n } })),
    { compensate: undo },
  )
  await worker({ workflows: [all, some] })
  for (const graph of [all, some]) {
    const run = await graph.submit(lockstep, { n: 1 })
    await assert.rejects(run.result({ timeout: '20s' }), {
      details: { runId: run.id, workflow: graph.name, compensation: 'complete' },
    })
  }
  assert.deepEqual(undone.toSorted(), [
    'compensate:m[1] 1->2',
    'compensate:m[2] 2->4',
    'compensate:m[a] 0->0',
    'compensate:m[b] 1->2',
  ])
})

test('a retry leaves what was undone as it is, and goes on with an undoing that stopped', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const undone: string[] = []
  let stuck = true
  const undo = action({ name: 'undo', input: Undo, retry: { attempts: 1 } }, (ctx) => {
    if (stuck && ctx.node !== 'compensate:two') throw new Error('cannot be undone now')
    undone.push(ctx.node)
  })
  const broken = action({ name: 'broken', input: N }, () => {
    throw new PermanentError('it never works')
  })
  const graph = workflow({ name: 'graph', input: N })
    .node('one', double, ({ input }) => input, { compensate: undo })
    .node('two', double, ({ outputs }) => outputs.one, { after: ['one'], compensate: undo })
    .node('three', double, ({ outputs }) => outputs.two, { after: ['two'], compensate: undo })
    .node('bad', broken, ({ input }) => input, { after: ['three'] })
  await worker({ workflows: [graph] })
  const run = await graph.submit(lockstep, { n: 1 })
  await assert.rejects(run.result({ timeout: '20s' }), {
    details: { runId: run.id, workflow: 'graph', compensation: 'incomplete' },
  })
  assert.deepEqual(undone, ['compensate:two'])
  stuck = false
  assert.equal(await run.retry(), 'compensating')
  await assert.rejects(run.result({ timeout: '20s' }), {
    details: { runId: run.id, workflow: 'graph', compensation: 'complete' },
  })
  assert.deepEqual(undone, ['compensate:two', 'compensate:three', 'compensate:one'])
  assert.equal(await run.retry(), 'failed')
  assert.match(String((await run.status()).error?.message), /node bad failed/)
})

test('code that failed by what it called goes on at a retry, and so does the run that it started', async (t) => {
  const { lockstep, worker } = await workshop(t)
  let well = false
  const begun: string[] = []
  const call = action({ name: 'call', input: N }, (_ctx, { n }) => {
    if (!well) throw new PermanentError('declined')
    return n
  })
  const inner = workflow({ name: 'inner', input: N }, async (ctx, input) => {
    await ctx.step('begin', () => void begun.push('inner'))
    return ctx.call('pay', call, input)
  })
  const direct = workflow({ name: 'direct', input: N, retry: { attempts: 1 } }, async (ctx, input) =>
    ctx.call('pay', call, input),
  )
  const outer = workflow({ name: 'outer', input: N, retry: { attempts: 1 } }, async (ctx, input) => {
    await ctx.step('begin', () => void begun.push('outer'))
    return ctx.run('inner', inner, input)
  })
  await worker({ workflows: [inner, direct, outer], actions: [call] })
  const runs = [await direct.submit(lockstep, { n: 1 }), await outer.submit(lockstep, { n: 2 })]
  for (const run of runs) {
    await assert.rejects(run.result({ timeout: '20s' }), (error: Error) =>
      /declined/.test(`${String(causeOf(error))} ${String(causeOf(causeOf(error)))}`),
    )
  }
  well = true
  for (const run of runs) assert.equal(await run.retry(), 'running')
  assert.deepEqual(await Promise.all(runs.map(async (run) => run.result({ timeout: '20s' }))), [1, 2])
  assert.deepEqual(begun, ['outer', 'inner'])
})

test('a run that a deadline failed can be tried again without it, and runs that are being undone hold no other back', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const slow = workflow({ name: 'slow', input: N }, async (ctx, { n }) => {
    await ctx.waitForSignal('go')
    return n
  })
  await worker({ workflows: [slow] })
  const run = await slow.submit(lockstep, { n: 5 }, { deadline: '100ms' })
  await assert.rejects(run.result({ timeout: '20s' }), (error: Error) => /deadline/.test(String(causeOf(error))))
  assert.equal(await run.retry(), 'running')
  await sql.query('select lockstep.expire_runs(100)')
  await run.signal('go')
  assert.equal(await run.result({ timeout: '20s' }), 5)

  const late = await slow.submitMany(lockstep, [{ n: 6 }, { n: 7 }], { deadline: '1d' })
  await sql.query(
    `update lockstep.node set deadline = lockstep.clock() - interval '1 min' * (3 - (input::json ->> 'n')::int % 3),
            state = case input when '{"n":6}' then 'compensating' else state end
      where run_id = any ($1) and ordinal = 0`,
    [late.map(({ id }) => id)],
  )
  await sql.query('select lockstep.expire_runs(1)')
  await until('the other has failed', async () => (await late[1]?.status())?.state === 'failed')
})

test('what a child brought is kept while its parent is, and a place after it is known as passed', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  let children = 0
  let changed = false
  const child = workflow({ name: 'child', input: N, retention: { completed: '1ms' } }, async (ctx, { n }) => {
    await ctx.step('count', () => void (children += 1))
    return n
  })
  const parent = workflow({ name: 'parent', input: N, retention: { completed: '1ms' } }, async (ctx, input) => {
    const patched = changed && (await ctx.patch('later'))
    const brought = await ctx.run('child', child, input)
    await ctx.waitForSignal('go')
    return { brought, patched }
  })
  await worker({ workflows: [child, parent] })
  const run = await parent.submit(lockstep, { n: 3 })
  await until('the parent waits for its signal', async () => {
    const { rows } = await sql.query(`select 1 from lockstep.step where run_id = $1 and state = 'waiting'`, [run.id])
    return rows.length > 0
  })
  // A run of code that waits has a history to tell by, so the wait is taken out of it.
  await sql.query(`delete from lockstep.step where run_id = $1 and state = 'waiting'`, [run.id])
  const remove = async (): Promise<void> =>
    void (await sql.query(`select lockstep.remove_runs('00000000-0000-0000-0000-000000000000', 1000)`))
  await remove()
  changed = true
  await run.signal('go')
  assert.deepEqual(await run.result({ timeout: '20s' }), { brought: 3, patched: false })
  assert.equal(children, 1)
  await remove()
  await remove()
  const { rows } = await sql.query(
    `select (select count(*) from lockstep.node) + (select count(*) from lockstep.step) as left`,
  )
  assert.equal(rows[0].left, '0')
})

test('the removal of old runs with many nodes goes on where it was full', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const graph = workflow({ name: 'many', input: N, retention: { completed: '1ms' } }).map('m', double, () =>
    [1, 2, 3].map((n) => ({ key: `${n}`, input: { n } })),
  )
  await worker({ workflows: [graph] })
  const runs = await graph.submitMany(lockstep, [{ n: 1 }, { n: 2 }, { n: 3 }])
  for (const run of runs) await run.wait({ timeout: '20s' })
  const removed: number[] = []
  for (let after = '00000000-0000-0000-0000-000000000000'; after !== '';) {
    const { rows } = await sql.query('select * from lockstep.remove_runs($1, 100, 6)', [after])
    removed.push(rows[0].removed)
    after = rows[0].last ?? ''
  }
  // Five rows each: the second fills the first call.
  assert.deepEqual(removed, [2, 1])
  assert.equal((await sql.query('select 1 from lockstep.node')).rowCount, 0)
})

test('code that comes to a wait has spent none of its crashes', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const code = workflow({ name: 'code', input: N }, async (ctx, { n }) => {
    await ctx.waitForSignal('go')
    return n
  })
  const run = await code.submit(lockstep, { n: 1 })
  await sql.query('update lockstep.node set crashes = 9 where run_id = $1', [run.id])
  await worker({ workflows: [code] })
  await until('it waits', async () => (await run.status()).state === 'sleeping')
  const { rows } = await sql.query('select crashes from lockstep.node where run_id = $1', [run.id])
  assert.equal(rows[0].crashes, 0)
})
