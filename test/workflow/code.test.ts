// Workflows written as code against a real database: named steps done once, waits that hold no worker, calls, children, keys,
// patches, and what a changed name is told.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, PermanentError, StepKeyRequiredError, type CodeContext } from 'lockstep'
import { z } from 'zod'
import { until } from '../conformance/until.ts'
import { causeOf, workshop } from './workshop.ts'

const Id = z.object({ id: z.number() })

test('a step is done once, with its writes, however often the code runs', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  await sql.query('create table done (run_id text, step text, primary key (run_id, step))')
  let runs = 0
  const steps: string[] = []
  const code = workflow({ name: 'code', input: Id, retry: { attempts: 3, backoff: '10ms' } }, async (ctx, input) => {
    runs += 1
    const first = await ctx.step('first', async (step) => {
      steps.push('first')
      await step.tx.query('insert into done values ($1, $2)', [ctx.runId, 'first'])
      return { at: new Date(0), id: input.id }
    })
    const second = await ctx.step('second', () => {
      steps.push('second')
      return 2
    })
    if (runs === 1) throw new Error('after the second')
    await ctx.step('third', async (step) => {
      steps.push('third')
      await step.queue('told').push({ data: { id: input.id } })
      await step.kv.put('state', `${input.id}`, { second }, { ttl: '1d' })
    })
    return { at: first.at, second }
  })
  await worker({ workflows: [code] })
  const run = await code.submit(lockstep, { id: 7 })
  assert.deepEqual(await run.result({ timeout: '10s' }), { at: '1970-01-01T00:00:00.000Z', second: 2 })
  assert.deepEqual(steps, ['first', 'second', 'third'])
  assert.equal((await sql.query('select 1 from done')).rowCount, 1)
  assert.deepEqual((await lockstep.kv.get('state', '7')).value, { second: 2 })
  const [message] = await lockstep.queue('told').group('g').subscriptionMode('all').wait(true).timeout(5_000).pop()
  assert.deepEqual(message?.data, { id: 7 })
})

test('a sleep and a signal hold no worker, and a timeout ends a wait', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const code = workflow({ name: 'waits', input: Id }, async (ctx) => {
    await ctx.sleep('nap', '300ms')
    const answer = await ctx.waitForSignal('approval', { schema: z.object({ yes: z.boolean() }) })
    const none = await ctx.waitForSignal('never', { timeout: '200ms' })
    return { yes: answer.yes, none }
  })
  const running = await worker({ workflows: [code], concurrency: 1 })
  const run = await code.submit(lockstep, { id: 1 })
  await until('it sleeps', async () => (await run.status()).state === 'sleeping')
  await until('no handler is at work', () => running.status().running === 0)
  const early = performance.now()
  assert.equal(await run.signal('approval', { yes: true }), true)
  assert.deepEqual(await run.result({ timeout: '10s' }), { yes: true, none: null })
  assert.ok(performance.now() - early > 200)
  assert.equal(await run.signal('approval', { yes: false }), false)
})

test('calls run here or anywhere, retry by their own policy, and tell their final failure with its cause', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const attempts: number[] = []
  const flaky = action({ name: 'flaky', input: Id, retry: { attempts: 3, backoff: '10ms' } }, (ctx, { id }) => {
    attempts.push(ctx.attempt)
    if (attempts.length < 3) throw new Error('not yet')
    return { id, key: ctx.idempotencyKey }
  })
  const limited = action({ name: 'limited', input: Id, concurrency: 1 }, (_ctx, { id }) => id + 1)
  const broken = action({ name: 'broken', input: Id }, () => {
    throw new PermanentError('it never works')
  })
  const code = workflow({ name: 'calls', input: Id }, async (ctx, { id }) => {
    const a = await ctx.call('a', flaky, { id })
    const [b, c] = await ctx.all([ctx.call('b', limited, { id }), ctx.call('c', limited, { id: id + 1 })])
    try {
      await ctx.call('d', broken, { id })
    } catch (error) {
      return {
        a,
        b,
        c,
        code: Reflect.get(Object(error), 'code'),
        cause: error instanceof Error ? String(error.cause) : '',
      }
    }
    return null
  })
  await worker({ workflows: [code], actions: [flaky, limited, broken] })
  const run = await code.submit(lockstep, { id: 1 })
  assert.deepEqual(await run.result({ timeout: '10s' }), {
    a: { id: 1, key: `${run.id}:a` },
    b: 2,
    c: 3,
    code: 'step_failed',
    cause: 'PermanentError: it never works',
  })
})

test('code that returns past a call ends it: nothing of an ended run goes on', async (t) => {
  const { lockstep, worker, sql, warnings } = await workshop(t)
  const far = action({ name: 'far', input: Id }, (_ctx, { id }) => id)
  const code = workflow({ name: 'impatient', input: Id }, async (ctx, input) =>
    Promise.race([ctx.call('slow', far, input), ctx.sleep('patience', '20ms').then(() => 'too late')]),
  )
  await worker({ workflows: [code] })
  const run = await code.submit(lockstep, { id: 1 })
  assert.equal(await run.result({ timeout: '20s' }), 'too late')
  const { rows } = await sql.query(
    'select name, state, finished_at is not null as ended from lockstep.node order by ordinal',
  )
  assert.deepEqual(
    rows.map(({ name, state, ended }) => [name, state, ended]),
    [
      ['impatient', 'done', true],
      ['slow', 'cancelled', true],
    ],
  )
  assert.equal(warnings.filter((text) => text.includes('"calls":1')).length, 1)
  // Whoever knows the action finds nothing to do.
  const late = await worker({ actions: [far] })
  assert.equal(await far.enqueue(lockstep, { id: 2 }).then((job) => job.result({ timeout: '20s' })), 2)
  assert.equal(late.status().running, 0)
  assert.equal((await sql.query("select 1 from lockstep.node where name = 'slow' and state = 'cancelled'")).rowCount, 1)
})

test('code that ends beside a wait of its own is done, and does not let go of its run meanwhile', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const code = workflow({ name: 'raced', input: Id }, async (ctx, { id }) =>
    Promise.race([ctx.waitForSignal('never'), ctx.sleep('patience', '1ms').then(() => id)]),
  )
  await worker({ workflows: [code] })
  const inputs = Array.from({ length: 200 }, (_, id) => ({ id }))
  const runs = await code.submitMany(lockstep, inputs)
  assert.deepEqual(
    await Promise.all(runs.map(async (run) => run.result({ timeout: '40s' }))),
    inputs.map(({ id }) => id),
  )
})

test('a child workflow is one run, its result comes back, and cancelling the parent cancels it', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const double = action({ name: 'double', input: Id }, (_ctx, { id }) => id * 2)
  const graph = workflow({ name: 'graph_child', input: Id }).node('d', double, ({ input }) => input)
  const sleeper = workflow({ name: 'sleeper', input: Id }, async (ctx) => {
    await ctx.waitForSignal('wake')
    return 'woken'
  })
  const parent = workflow({ name: 'parent', input: Id }, async (ctx, input) => {
    const child = await ctx.run('child', graph, input)
    await ctx.run('long', sleeper, input)
    return child
  })
  await worker({ workflows: [parent, graph, sleeper] })
  const run = await parent.submit(lockstep, { id: 4 })
  const children = async (name: string) =>
    (await sql.query('select run_id from lockstep.node where ordinal = 0 and workflow = $1', [name])).rows
  await until('the second child is there', async () => (await children('sleeper')).length === 1)
  assert.equal((await children('graph_child')).length, 1)
  const [child] = await children('sleeper')
  assert.equal(await run.cancel('enough'), 'cancelled')
  await assert.rejects(run.result(), { code: 'run_cancelled' })
  assert.equal((await lockstep.run(child.run_id).status()).state, 'cancelled')
  const other = await parent.submit(lockstep, { id: 5 })
  await until('the second child of the other', async () => (await children('sleeper')).length === 2)
  const open = (await children('sleeper')).find((row) => row.run_id !== child.run_id)
  await lockstep.run(open.run_id).signal('wake')
  assert.deepEqual(await other.result({ timeout: '10s' }), { d: 10 })
})

test('a name in flight twice needs keys; one that comes again is numbered', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const twice = workflow({ name: 'twice', input: Id }, async (ctx) => {
    await ctx.all([ctx.step('s', async () => 1), ctx.step('s', async () => 2)])
  })
  const keyed = workflow({ name: 'keyed', input: Id }, async (ctx) => {
    const both = await ctx.all(['a', 'b'].map(async (key) => ctx.step('s', { key }, () => key)))
    const again = [await ctx.step('n', () => 1), await ctx.step('n', () => 2)]
    return { both, again }
  })
  await worker({ workflows: [twice, keyed] })
  await assert.rejects((await twice.submit(lockstep, { id: 1 })).result({ timeout: '10s' }), (error: Error) => {
    assert.equal(causeOf(error)?.name, 'StepKeyRequiredError')
    return true
  })
  assert.equal(new StepKeyRequiredError('s').code, 'step_key_required')
  const run = await keyed.submit(lockstep, { id: 1 })
  assert.deepEqual(await run.result({ timeout: '10s' }), { both: ['a', 'b'], again: [1, 2] })
  const { rows } = await sql.query('select name from lockstep.step where run_id = $1 order by 1', [run.id])
  assert.deepEqual(
    rows.map((row) => row.name),
    ['n', 'n#2', 's[a]', 's[b]'],
  )
})

test('a patch is true for a run that slept on its way there, and asked again it answers the same', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const code = workflow({ name: 'patched_late', input: Id }, async (ctx) => {
    await ctx.step('before', () => 1)
    await ctx.sleep('a while', '1ms')
    const first = await ctx.all([ctx.patch('new-way'), ctx.patch('new-way')])
    await ctx.step('between', () => 1)
    await ctx.sleep('another', '1ms')
    return [...first, await ctx.patch('new-way')]
  })
  await worker({ workflows: [code] })
  assert.deepEqual(await (await code.submit(lockstep, { id: 1 })).result({ timeout: '20s' }), [true, true, true])
})

test('a patch is true for runs that came there first with it, and stays so', async (t) => {
  const { lockstep, worker } = await workshop(t)
  let changed = false
  const seen: boolean[] = []
  const code = workflow({ name: 'patched', input: Id }, async (ctx) => {
    await ctx.step('before', () => 1)
    if (!changed) return ctx.waitForSignal('go')
    const patched = await ctx.patch('new-way')
    seen.push(patched)
    return ctx.waitForSignal('go')
  })
  await worker({ workflows: [code] })
  const old = await code.submit(lockstep, { id: 1 })
  await until('it waits', async () => (await old.status()).state === 'sleeping')
  changed = true
  const fresh = await code.submit(lockstep, { id: 2 })
  await until('it waits', async () => (await fresh.status()).state === 'sleeping')
  await fresh.signal('go', 'fresh')
  assert.equal(await fresh.result({ timeout: '10s' }), 'fresh')
  await old.signal('go', 'old')
  assert.equal(await old.result({ timeout: '10s' }), 'old')
  assert.deepEqual(seen, [true, true, false])
})

test('a recorded name that is used for something else is reported, never given the wrong result', async (t) => {
  const { lockstep, worker, sql } = await workshop(t)
  const act = action({ name: 'act', input: Id }, () => 'from the action')
  const limited = action({ name: 'limited', input: Id, concurrency: 5 }, () => 'from a node')
  const child = workflow({ name: 'child', input: Id }, () => 'from the child')
  const uses = {
    'a step': async (ctx) => ctx.step('x', () => 'a result'),
    'a sleep': async (ctx) => ctx.sleep('x', '1ms'),
    'a signal': async (ctx) => ctx.waitForSignal('x'),
    'a call': async (ctx) => ctx.call('x', act, { id: 1 }),
    'a call as a node': async (ctx) => ctx.call('x', limited, { id: 1 }),
    'a run of another workflow': async (ctx) => ctx.run('x', child, { id: 1 }),
  } satisfies Record<string, (ctx: CodeContext) => Promise<unknown>>
  const now = new Map<string, (ctx: CodeContext) => Promise<unknown>>()
  const Pair = z.object({ pair: z.string(), was: z.string() })
  const code = workflow({ name: 'reused', input: Pair, retry: { attempts: 1 } }, async (ctx, { pair, was }) => {
    await (now.get(pair) ?? now.get(was))?.(ctx)
    await ctx.waitForSignal('go')
  })
  const kinds = Object.entries(uses)
  for (const [kind, use] of kinds) now.set(kind, use)
  const word = (kind: string): string => kind.replace(' as a node', '')
  const pairs = kinds.flatMap(([was]) =>
    kinds.filter(([is]) => word(is) !== word(was)).map(([is, use]) => ({ pair: `${was} then ${is}`, was, is, use })),
  )
  await worker({ workflows: [code, child], actions: [act, limited], concurrency: 20 })
  const runs = await code.submitMany(
    lockstep,
    pairs.map(({ pair, was }) => ({ pair, was })),
  )
  await Promise.all(runs.map(async (run) => run.signal('x', 'heard')))
  for (const run of runs) {
    await until('it waits for its second signal', async () => {
      const { rows } = await sql.query(`select 1 from lockstep.step where run_id = $1 and name = 'go'`, [run.id])
      return rows.length > 0
    })
  }
  for (const { pair, use } of pairs) now.set(pair, use)
  for (const [at, { pair, was, is }] of pairs.entries()) {
    const run = runs[at]
    assert.ok(run !== undefined)
    await run.signal('go')
    const { error } = await run.wait({ timeout: '20s' })
    assert.ok(
      error?.message.includes(`'x' was recorded as ${word(was)} and is now used as ${word(is)}: give it another name`),
      `${pair}: ${error?.message ?? 'it came through'}`,
    )
  }
})
