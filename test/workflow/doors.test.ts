// What definitions, workers and handlers may be given: each wrong part is named where it stands, and whatever a handler throws,
// maps or forgets to await fails its own run alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow } from 'lockstep'
import { z } from 'zod'
import { causeOf, workshop } from './workshop.ts'

const N = z.object({ n: z.any() })
const echo = action({ name: 'echo', input: N }, (_ctx, { n }) => ({ n: String(n) }))

test('a part of a definition that cannot be is named where it is written', () => {
  // What no compiler lets through, as a program without types would write it.
  const wrong =
    (parts: object): (() => unknown) =>
    () =>
      action({ name: 'x', input: N, ...parts }, () => 1)
  for (const [parts, message] of [
    [{ retry: { backoff: '1h', maxBackoff: '1s' } }, /retry\.maxBackoff must be at least as long as retry\.backoff/],
    [{ concurrency: { limit: 1, key: 'n' } }, /concurrency\.key must be a function/],
    [{ rate: { limit: 1, per: '1s', key: 'n' } }, /rate\.key must be a function/],
    [{ rate: { limit: 5 } }, /rate\.per must be a whole number above zero/],
    [{ queue: 5 }, /queue must be text/],
    [{ queue: '' }, /queue must be text of 1 to 512 bytes/],
    [{ completion: 5 }, /completion of action 'x' must be one of an adapter/],
  ] as const) {
    assert.throws(wrong(parts), { code: 'bad_request', message })
  }
  const graph = workflow({ name: 'g', input: N })
  const name: string = JSON.parse('"__proto__"')
  assert.throws(() => graph.node(name, echo, () => ({ n: 1 })), /a node cannot be called '__proto__'/)
})

test('a worker serves at least one queue, by a list of names', async (t) => {
  const { lockstep } = await workshop(t)
  for (const [queues, message] of [
    [[], /queues must be at least one queue/],
    [JSON.parse('"default"'), /queues must be an array/],
    [[''], /queues\[0\] must be text of 1 to 512 bytes/],
  ] as const) {
    await assert.rejects(lockstep.worker({ actions: [echo], queues }).start(), message)
  }
})

test('an item of a map that no key can name fails its run alone, whatever else is planned with it', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const graph = workflow({ name: 'mapping', input: N }).map('m', echo, ({ input }) => input.n)
  const keys = ['a\0b', '\uD800', '', 'k'.repeat(600), 5, 'fine', '__proto__', 'also']
  const runs = await graph.submitMany(
    lockstep,
    keys.map((key) => ({ n: [{ key, input: { n: 1 } }] })),
  )
  await worker({ workflows: [graph] })
  const told = await Promise.all(
    runs.map(async (run) =>
      run.result({ timeout: '20s' }).then(
        ({ m }) => Object.keys(m).join(),
        (error: Error) => String(causeOf(causeOf(error))),
      ),
    ),
  )
  for (const [at, right] of [
    /without NUL/,
    /valid Unicode/,
    /1 to 512 bytes/,
    /1 to 512 bytes/,
    /1 to 512/,
  ].entries()) {
    assert.match(told[at] ?? '', right)
    assert.match(told[at] ?? '', /an item of the map function of node 'm': key must be/)
  }
  assert.deepEqual(told.slice(5), ['fine', '__proto__', 'also'])
})

test('whatever is thrown is written down, in an action, in a graph and in code', async (t) => {
  const { lockstep, worker } = await workshop(t)
  const circular: { self?: unknown } = {}
  circular.self = circular
  const odd = new Error('odd')
  Object.defineProperty(odd, 'message', { value: { deep: 1n } })
  const emoji = new Error(`${'x'.repeat(4_095)}🦀🦀`)
  const thrown = new Map<string, unknown>([
    ['circular', circular],
    ['bigint', { n: 1n }],
    ['symbol', Symbol('s')],
    ['nothing', undefined],
    ['odd', odd],
    ['half', new Error('a\0b\uD800')],
    ['emoji', emoji],
  ])
  const thrower = action({ name: 'thrower', input: N, retry: { attempts: 1 } }, (_ctx, { n }) => {
    throw thrown.get(String(n))
  })
  const graph = workflow({ name: 'thrown_graph', input: N }).node('only', thrower, ({ input }) => input)
  const code = workflow({ name: 'thrown_code', input: N, retry: { attempts: 1 } }, (_ctx, { n }) => {
    throw thrown.get(String(n))
  })
  await worker({ actions: [thrower], workflows: [graph, code] })
  for (const what of [thrower, graph, code]) {
    const runs = await lockstep.submitMany(
      what,
      [...thrown.keys()].map((n) => ({ n })),
    )
    for (const run of runs) {
      const { state, error } = await run.wait({ timeout: '20s' })
      assert.equal(state, 'failed')
      assert.ok(error !== null && error.message !== '')
      assert.doesNotMatch(`${error.message}${String(causeOf(error)?.message)}`, /\0|\p{Surrogate}/u)
    }
  }
})

test('a step that nobody awaits ends no process, and code that returns while one is at work is told so', async (t) => {
  const { lockstep, worker, warnings } = await workshop(t)
  let free = (): void => {}
  const held = new Promise<void>((resolve) => (free = resolve))
  const code = workflow({ name: 'careless', input: N }, (ctx, { n }) => {
    void ctx.step('floating', async () => {
      if (n === 'slow') await held
      throw new Error('nobody hears of it')
    })
    return 'returned'
  })
  const nameless = workflow({ name: 'nameless', input: N, retry: { attempts: 1 } }, async (ctx) => {
    const work: () => number = JSON.parse('null')
    return ctx.step('s', work)
  })
  await worker({ workflows: [code, nameless] })
  const unhandled: unknown[] = []
  const hear = (error: unknown): void => void unhandled.push(error)
  process.on('unhandledRejection', hear)
  t.after(() => process.off('unhandledRejection', hear))
  for (const n of ['quick', 'slow']) {
    assert.equal(await (await code.submit(lockstep, { n })).result({ timeout: '20s' }), 'returned')
  }
  free()
  assert.ok(warnings.some((line) => /the code returned while steps of it were at work/.test(line)))
  await assert.rejects(
    (await nameless.submit(lockstep, { n: 1 })).result({ timeout: '20s' }),
    /work of step 's' must be a function/,
  )
  assert.deepEqual(unhandled, [])
})
