// graphile-worker, with and without its local queue. It completes jobs on its own connections, so a handler's write can only
// be its own commit, made repeatable by the job's id; and it has no workflows, so three steps are three jobs, each adding the next.
import { Pool } from 'pg'
import { loadPeer } from '../load-peer.ts'
import type { Kind, Order, Peer, Place, System } from '../peer.ts'
import { INSERT_ONCE, receipt } from '../receipts.ts'

interface Helpers {
  readonly job: { readonly id: string }
  readonly addJob: (task: string, payload: unknown) => Promise<unknown>
  readonly withPgClient: (
    work: (client: { query(text: string, values: unknown[]): Promise<unknown> }) => Promise<unknown>,
  ) => Promise<unknown>
}
type Task = (payload: Order, helpers: Helpers) => Promise<unknown>
interface Runner {
  stop(): Promise<void>
}
interface Maker {
  addJob(task: string, payload: unknown): Promise<unknown>
  addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>
  migrate(): Promise<void>
  release(): Promise<void>
}
interface Package {
  readonly makeWorkerUtils: (options: object) => Promise<Maker>
  readonly run: (options: object) => Promise<Runner>
  readonly Logger: new (factory: () => () => void) => object
}

const TASKS: Readonly<Record<Kind, string>> = { job: 'job', write: 'write', code: '', graph: 'one' }

function tasks(handled: (order: Order) => void): Record<string, Task> {
  return {
    job: async (order) => handled(order),
    write: async (order, { job, withPgClient }) => {
      await withPgClient(async (client) => client.query(INSERT_ONCE, receipt(job.id, order)))
      handled(order)
    },
    one: async (order, { addJob }) => addJob('two', order),
    two: async (order, { addJob }) => addJob('three', order),
    three: async (order) => handled(order),
  }
}

function graphileWorker(name: string, settings: string, worker: object): Peer {
  return {
    name,
    version: '0.18.0',
    settings,
    nearest: {
      write: "no completion in the handler's transaction: the insert is a commit of its own, repeatable by the job id",
      graph: 'no workflows: each job adds the next one',
    },
    lacks: ['code'],
    fillPerSecond: { job: 55_000, write: 14_000, code: 0, graph: 2_000 },
    unfinished: 'select count(*) from graphile_worker._private_jobs',
    async open({ connectionString, home }: Place): Promise<System> {
      const { makeWorkerUtils, run, Logger } = await loadPeer<Package>(home, 'graphile-worker')
      const logger = new Logger(() => () => {})
      const pool = new Pool({ connectionString, max: 24 })
      pool.on('error', console.error)
      pool.on('connect', (client) => client.on('error', console.error))
      const maker = await makeWorkerUtils({ pgPool: pool, logger })
      await maker.migrate()
      return {
        enqueue: async (order) => maker.addJob('job', order),
        enqueueMany: async (kind, list) => maker.addJobs(list.map((payload) => ({ identifier: TASKS[kind], payload }))),
        enqueueIn: async (client, order) =>
          client.query('select graphile_worker.add_job($1, payload => $2::json)', ['job', JSON.stringify(order)]),
        committed: async () => {},
        async work(_kind, concurrency, handled) {
          const runner = await run({
            connectionString,
            concurrency,
            noHandleSignals: true,
            logger,
            taskList: tasks(handled),
            preset: { worker: { maxPoolSize: Math.min(concurrency + 4, 28), concurrentJobs: concurrency, ...worker } },
          })
          return async () => runner.stop()
        },
        async close() {
          await maker.release()
          await pool.end()
        },
      }
    },
  }
}

export const graphilePlain: Peer = graphileWorker(
  'graphile-worker',
  'no local queue, each job claimed and completed alone',
  {},
)
export const graphileLocal: Peer = graphileWorker(
  'graphile-worker, local queue',
  'localQueue 500, completeJobBatchDelay 0, failJobBatchDelay 0',
  { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
)
