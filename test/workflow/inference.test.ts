// The types of actions and workflows as a product: what compiles, what does not (each line marked is an error that the
// compiler must report), and what a definition is at run time. The build of this file is the larger half of the test.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { action, workflow, type RunHandle, type StepContext } from 'lockstep'
import { z } from 'zod'
import { longChain } from './long-chain.ts'

const reserve = action({ name: 'reserve', input: z.object({ orderId: z.string() }) }, async (ctx, input) => ({
  reservationId: input.orderId + ctx.runId,
  n: 3,
}))
const charge = action({ name: 'charge', input: z.object({ paymentId: z.string() }) }, async (_ctx, input) => ({
  receipt: input.paymentId,
  at: new Date(),
}))
const release = action(
  {
    name: 'release',
    input: z.object({
      input: z.object({ orderId: z.string() }),
      output: z.object({ reservationId: z.string(), n: z.number() }),
    }),
  },
  async () => {},
)
const ship = action({ name: 'ship', input: z.object({ receipt: z.string() }) }, async () => 'tracking')

const fulfil = workflow({
  name: 'fulfil',
  input: z.object({ orderId: z.string(), paymentId: z.string(), items: z.array(z.string()) }),
})
  .node('reserve', reserve, ({ input }) => ({ orderId: input.orderId }), { compensate: release })
  .node('charge', charge, ({ input }) => ({ paymentId: input.paymentId }), {
    after: ['reserve'],
    when: ({ outputs }) => outputs.reserve.n > 0,
  })
  .map(
    'ships',
    ship,
    ({ input, outputs }) => input.items.map((key) => ({ key, input: { receipt: outputs.charge?.receipt ?? key } })),
    { after: ['charge'], onFailure: 'continue' },
  )

const total = fulfil.output(({ outputs }) => ({ total: outputs.reserve.n }))

type ResultOf<W> = W extends { submit(...given: never[]): Promise<RunHandle<infer Out>> } ? Out : never

// Never called: only compiled.
export async function compiled(run: RunHandle<ResultOf<typeof fulfil>>, ctx: StepContext): Promise<unknown[]> {
  const result = await run.result()
  const instant: string | undefined = result.charge?.at
  const item = result.ships['k']
  const length: number = item?.ok ? item.value.length : 0
  // @ts-expect-error a node behind `when` may be missing
  const receipt: unknown = result.charge.receipt
  const sum: ResultOf<typeof total> = { total: 1 }
  // @ts-expect-error outputs are what JSON gives back: a Date comes as text
  const date: Date | undefined = result.charge?.at
  // @ts-expect-error completionTx is a method
  const query: unknown = ctx.completionTx.query
  return [instant, length, receipt, sum, date, query]
}

test('what the compiler refuses is refused when it is built as well', () => {
  assert.equal(fulfil.name, 'fulfil')
  // @ts-expect-error charge is no declared predecessor of e1
  fulfil.node('e1', ship, ({ outputs }) => ({ receipt: outputs.charge?.receipt }), { after: ['reserve'] })
  // @ts-expect-error a number is no receipt
  fulfil.node('e2', ship, ({ outputs }) => ({ receipt: outputs.reserve.n }), { after: ['reserve'] })
  assert.throws(
    // @ts-expect-error there is no node of that name
    () => fulfil.node('e3', ship, ({ input }) => ({ receipt: input.orderId }), { after: ['nope'] }),
    { code: 'bad_request', message: /comes after 'nope'/ },
  )
  assert.throws(
    // @ts-expect-error declared twice
    () => fulfil.node('charge', ship, ({ input }) => ({ receipt: input.orderId })),
    { code: 'bad_request', message: /declared twice/ },
  )
  // @ts-expect-error the output of charge may be undefined
  fulfil.node('e5', ship, ({ outputs }) => ({ receipt: outputs.charge.receipt }), { after: ['charge'] })
  const skippable = fulfil.node('only', ship, ({ outputs }) => ({ receipt: outputs.charge?.receipt ?? '' }), {
    after: ['charge'],
  })
  // @ts-expect-error what only hangs on a node that may be skipped may be skipped too
  skippable.node('e7', ship, ({ outputs }) => ({ receipt: outputs.only.length }), { after: ['only'] })
  // @ts-expect-error release undoes another action
  fulfil.node('e6', ship, ({ input }) => ({ receipt: input.orderId }), { compensate: release })
})

test('a code workflow infers its steps and its result', () => {
  const code = workflow({ name: 'code', input: z.object({ id: z.number() }) }, async (ctx, input) => {
    const step = await ctx.step('first', async () => ({ at: new Date(), id: input.id }))
    const at: string = step.at
    const paid = await ctx.call('charge', charge, { paymentId: at })
    // @ts-expect-error the input of charge
    await ctx.call('charge', charge, { nope: 1 })
    const signal = await ctx.waitForSignal('s', { timeout: '1s', schema: z.object({ yes: z.boolean() }) })
    const [a, b] = await ctx.all([ctx.step('a', () => 1), ctx.step('b', () => 'x')])
    const sum: number = a + b.length
    return { receipt: paid.receipt, yes: signal?.yes ?? null, sum }
  })
  const result: ResultOf<typeof code> = { receipt: 'r', yes: true, sum: 1 }
  assert.equal(code.name, 'code')
  assert.equal(result.sum, 1)
})

test('names that the engine uses for itself are refused', () => {
  assert.throws(() => action({ name: 'plan:x', input: z.any() }, () => 1), { code: 'bad_request' })
  assert.throws(() => action({ name: '', input: z.any() }, () => 1), { code: 'bad_request' })
  for (const attempts of [0, -1, 1.5, Number.NaN, 1e9]) {
    assert.throws(() => action({ name: 'x', input: z.any(), retry: { attempts } }, () => 1), { code: 'bad_request' })
  }
  assert.throws(() => action({ name: 'x', input: z.any(), timeout: 1e15 }, () => 1), { code: 'bad_request' })
})

test('what nobody would read and what is no part of a definition is refused where it is written', () => {
  const input = z.object({ n: z.number() })
  const right = action({ name: 'right', input }, (_ctx, { n }) => ({ n }))
  const graph = workflow({ name: 'graph', input })
  const wrong: readonly (readonly [work: () => unknown, says: RegExp])[] = [
    // @ts-expect-error a misspelt option
    [() => action({ name: 'x', input, concurency: 1 }, () => 1), /action 'x' has no option 'concurency'; it has name,/],
    // @ts-expect-error an option of the action's own
    [() => action({ name: 'x', input, retry: { attempt: 1 } }, () => 1), /retry has no option 'attempt'/],
    // @ts-expect-error no schema
    [() => action({ name: 'x', input: {} }, () => 1), /input of action 'x' must be a Standard Schema/],
    // @ts-expect-error no handler
    [() => action({ name: 'x', input }), /handler of action 'x' must be a function/],
    // @ts-expect-error a graph has no retries of its own
    [() => workflow({ name: 'x', input, retry: {} }), /workflow 'x' has no option 'retry'/],
    // @ts-expect-error no function
    [() => graph.node('a', right, { n: 1 }), /input function of node 'a' must be a function/],
    [
      // @ts-expect-error no such policy
      () => graph.node('a', right, (given) => given.input, { onFailure: 'ignore' }),
      /onFailure of node 'a' must be one of/,
    ],
    // @ts-expect-error a limit is a map's
    [() => graph.node('a', right, (given) => given.input, { limit: 3 }), /node 'a' has no option 'limit'/],
    // @ts-expect-error a workflow is no action
    [() => graph.node('a', graph, (given) => given.input), /node 'a' must be an action; 'graph' is a workflow/],
  ]
  for (const [work, says] of wrong) assert.throws(work, says)
})

test('a chain of two hundred nodes keeps the type of its last output and one version', () => {
  const result: Partial<ResultOf<typeof longChain>> = { n199: { n: 1 } }
  assert.equal(result.n199?.n, 1)
  const { version, shape } = longChain['~lockstep']
  assert.equal(version, longChain['~lockstep'].version)
  assert.match(version, /^[0-9a-f]{16}$/)
  assert.equal(JSON.parse(shape).nodes.length, 200)
})
