// A worker of its own process for the tests that kill it: a graph and a code workflow of three steps, each with a business row in
// its commit. Tells its parent of every step that has written and not yet committed.
import { Lockstep, action, workflow } from 'lockstep'
import { z } from 'zod'

const Id = z.object({ id: z.string() })
const INSERT = 'insert into business (run_id, step) values ($1, $2)'

const write = action({ name: 'write', input: Id }, async (ctx) => {
  const tx = await ctx.completionTx()
  await tx.query(INSERT, [ctx.runId, ctx.node])
  return { id: ctx.node }
})
export const threeNodes = workflow({ name: 'three_nodes', input: Id })
  .node('one', write, ({ input }) => input)
  .node('two', write, ({ outputs }) => outputs.one, { after: ['one'] })
  .node('three', write, ({ outputs }) => outputs.two, { after: ['two'] })

export const threeSteps = workflow({ name: 'three_steps', input: Id }, async (ctx) => {
  for (const name of ['one', 'two', 'three']) {
    await ctx.step(name, async (step) => {
      await step.tx.query(INSERT, [ctx.runId, name])
    })
  }
})

if (process.send !== undefined && process.env['LOCKSTEP_WORKER_URL'] !== undefined) {
  const lockstep = new Lockstep({
    connectionString: process.env['LOCKSTEP_WORKER_URL'],
    upkeep: process.env['LOCKSTEP_WORKER_UPKEEP'] === '1',
    logger: { warn() {} },
  })
  const worker = lockstep.worker({
    workflows: [threeNodes, threeSteps],
    concurrency: 4,
    lease: Number(process.env['LOCKSTEP_WORKER_LEASE_MS'] ?? 400),
    poll: '20ms',
    exitOnSignal: true,
    hooks: {
      async beforeCommit({ runId, node }) {
        process.send?.({ runId, node })
      },
    },
  })
  await worker.start()
  process.send({ started: true })
}
