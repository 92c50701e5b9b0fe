// Lockstep, straight on PostgreSQL in process, as an application would use it.
import { z } from 'zod'
import { action, Lockstep, workflow } from '../../../src/index.ts'
import type { Kind, Order, Peer, System } from '../peer.ts'
import { INSERT, receipt } from '../receipts.ts'

const input = z.object({
  orderId: z.string(),
  status: z.string(),
  amount: z.number(),
  note: z.string(),
  sentNs: z.string(),
})
const AT_ONCE = 500

function definitions(handled: (order: Order) => void) {
  const job = action({ name: 'job', input }, (_ctx, order) => handled(order))
  const write = action({ name: 'write', input }, async (ctx, order) => {
    const tx = await ctx.completionTx()
    await tx.query(INSERT, receipt(ctx.runId, order))
    handled(order)
  })
  const code = workflow({ name: 'code', input }, async (ctx, order) => {
    const one = await ctx.step('one', () => ({ ok: 1 }))
    const two = await ctx.step('two', () => ({ ok: one.ok + 1 }))
    await ctx.step('three', () => {
      handled(order)
      return { ok: two.ok + 1 }
    })
  })
  const step = action({ name: 'step', input }, () => ({ ok: 1 }))
  const lastStep = action({ name: 'last-step', input }, (_ctx, order) => {
    handled(order)
    return { ok: 1 }
  })
  const graph = workflow({ name: 'graph', input })
    .node('one', step, (given) => given.input)
    .node('two', step, (given) => given.input, { after: ['one'] })
    .node('three', lastStep, (given) => given.input, { after: ['two'] })
  return { job, write, code, graph }
}

export const lockstep: Peer = {
  name: 'Lockstep',
  version: 'this commit',
  settings: '24 connections; `wake()` after the commit of a transaction that enqueued',
  nearest: {},
  lacks: [],
  fillPerSecond: { job: 60_000, write: 16_000, code: 12_000, graph: 4_000 },
  unfinished: 'select count(*) from lockstep.node where ordinal = 0 and finished_at is null',
  async open({ connectionString }): Promise<System> {
    const client = new Lockstep({ connectionString, connections: 24 })
    await client.migrate()
    const mine = definitions(() => {})
    return {
      enqueue: async (order) => client.enqueue(mine.job, order),
      async enqueueMany(kind: Kind, list) {
        for (let at = 0; at < list.length; at += AT_ONCE) {
          await client.submitMany(mine[kind], list.slice(at, at + AT_ONCE))
        }
      },
      enqueueIn: async (tx, order) => client.in(tx).enqueue(mine.job, order),
      committed: async () => client.wake(),
      async work(kind, concurrency, handled) {
        const { job, write, code, graph } = definitions(handled)
        const worker = client.worker(
          kind === 'job'
            ? { concurrency, actions: [job] }
            : kind === 'write'
              ? { concurrency, actions: [write] }
              : { concurrency, workflows: [kind === 'code' ? code : graph] },
        )
        await worker.start()
        return async () => worker.stop()
      },
      close: async () => client.close(),
    }
  },
}
