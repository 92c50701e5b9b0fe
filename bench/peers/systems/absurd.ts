// Absurd: tasks with steps in code. It has no call that spawns many, and a step's record is a statement of its own, so a
// handler's write is a commit of its own, made repeatable by the task's id.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, Pool, type ClientBase } from 'pg'
import { loadPeer } from '../load-peer.ts'
import type { Kind, Order, Peer, Place, System } from '../peer.ts'
import { INSERT_ONCE, receipt } from '../receipts.ts'

interface Context {
  readonly taskID: string
  step<T>(name: string, work: () => Promise<T>): Promise<T>
}
interface Engine {
  registerTask(options: { name: string }, handler: (order: Order, ctx: Context) => Promise<unknown>): void
  createQueue(name?: string): Promise<void>
  spawn(name: string, order: Order): Promise<unknown>
  bindToConnection(client: ClientBase): Engine
  startWorker(options: object): Promise<{ close(): Promise<void> }>
  close(): Promise<void>
}
interface Package {
  readonly Absurd: new (options: object) => Engine
}

const SPAWNED_AT_ONCE = 20

export const absurd: Peer = {
  name: 'Absurd',
  version: '0.5.0',
  settings: 'pool of 24, claims in batches of the concurrency, pollInterval 0.01 s',
  nearest: {
    'enqueue-batch': 'no call for many: 20 single spawns at a time',
    write: "no completion in the handler's transaction: the insert is a commit of its own, repeatable by the task id",
  },
  lacks: ['graph'],
  fillPerSecond: { job: 2_500, write: 1_500, code: 1_200, graph: 0 },
  unfinished: "select count(*) from absurd.t_default where state in ('pending', 'running', 'sleeping')",
  async open({ connectionString, home }: Place): Promise<System> {
    const { Absurd } = await loadPeer<Package>(home, 'absurd-sdk')
    const setup = new Client({ connectionString })
    await setup.connect()
    const { rows } = await setup.query("select 1 from pg_namespace where nspname = 'absurd'")
    if (rows.length === 0) await setup.query(readFileSync(join(home, 'absurd.sql'), 'utf8'))
    await setup.end()
    const pool = new Pool({ connectionString, max: 24 })
    const engine = new Absurd({ db: pool, queueName: 'default' })
    await engine.createQueue('default')
    let tell: (order: Order) => void = () => {}
    engine.registerTask({ name: 'job' }, async (order) => tell(order))
    engine.registerTask({ name: 'write' }, async (order, ctx) => {
      await pool.query(INSERT_ONCE, receipt(ctx.taskID, order))
      tell(order)
    })
    engine.registerTask({ name: 'code' }, async (order, ctx) => {
      const one = await ctx.step('one', async () => ({ ok: 1 }))
      const two = await ctx.step('two', async () => ({ ok: one.ok + 1 }))
      await ctx.step('three', async () => {
        tell(order)
        return { ok: two.ok + 1 }
      })
    })

    async function spawnMany(kind: Kind, list: readonly Order[]): Promise<void> {
      let next = 0
      const one = async (): Promise<void> => {
        for (let order = list[next++]; order !== undefined; order = list[next++]) await engine.spawn(kind, order)
      }
      await Promise.all(Array.from({ length: SPAWNED_AT_ONCE }, one))
    }

    return {
      enqueue: async (order) => engine.spawn('job', order),
      enqueueMany: spawnMany,
      enqueueIn: async (client, order) => engine.bindToConnection(client).spawn('job', order),
      committed: async () => {},
      async work(_kind, concurrency, handled) {
        tell = handled
        const worker = await engine.startWorker({ concurrency, pollInterval: 0.01 })
        return async () => worker.close()
      },
      async close() {
        await engine.close()
        await pool.end()
      },
    }
  },
}
