// DBOS: workflows on a queue; the write through a data source, whose transaction holds the step's record. It has no
// call that enqueues many, so a batch is one transaction of single ones.
import { Pool, type ClientBase } from 'pg'
import { loadPeer } from '../load-peer.ts'
import type { Kind, Order, Peer, Place, System } from '../peer.ts'
import { INSERT, receipt } from '../receipts.ts'
import { dbosSource, type SourceTools } from './dbos-source.ts'

type Flow = (order: Order) => Promise<unknown>
interface Dbos {
  setConfig(config: object): void
  migrate(url: string): Promise<void>
  launch(): Promise<void>
  shutdown(options?: object): Promise<void>
  registerWorkflow(flow: Flow, options: { name: string }): Flow
  registerQueue(name: string, options: object): Promise<unknown>
  runStep<T>(step: () => Promise<T>, options: { name: string }): Promise<T>
  readonly workflowID: string | undefined
  readonly stepID: number | undefined
}
interface Client {
  enqueue(options: object, order: Order): Promise<unknown>
  enqueueInTransaction(client: ClientBase, options: object, order: Order): Promise<unknown>
  destroy(): Promise<void>
}
interface Package {
  readonly DBOS: Dbos
  readonly DBOSClient: { create(options: object): Promise<Client> }
}

const APPLICATION = 'bench'
const VERSION = '1'
const ENQUEUED_AT_ONCE = 8
const PER_TRANSACTION = 100
const SILENT = { info() {}, debug() {}, warn() {}, error: console.error }

const options = (kind: Kind): object => ({ queueName: kind, workflowName: kind, appVersion: VERSION })

async function fill(pool: Pool, client: Client, kind: Kind, list: readonly Order[], each: number): Promise<void> {
  let next = 0
  const one = async (): Promise<void> => {
    while (next < list.length) {
      const batch = list.slice(next, (next += each))
      const tx = await pool.connect()
      try {
        await tx.query('begin')
        for (const order of batch) await client.enqueueInTransaction(tx, options(kind), order)
        await tx.query('commit')
      } finally {
        tx.release()
      }
    }
  }
  await Promise.all(Array.from({ length: ENQUEUED_AT_ONCE }, one))
}

function flows(
  DBOS: Dbos,
  write: (order: Order) => Promise<void>,
  handled: (order: Order) => void,
): Record<string, Flow> {
  return {
    job: async (order) => handled(order),
    async write(order) {
      await write(order)
      handled(order)
    },
    async code(order) {
      const one = await DBOS.runStep(async () => ({ ok: 1 }), { name: 'one' })
      const two = await DBOS.runStep(async () => ({ ok: one.ok + 1 }), { name: 'two' })
      await DBOS.runStep(
        async () => {
          handled(order)
          return { ok: two.ok + 1 }
        },
        { name: 'three' },
      )
    },
  }
}

export const dbos: Peer = {
  name: 'DBOS',
  version: '5.3.0',
  settings: 'queue with workerConcurrency as asked, minPollingIntervalMs 10, pool of 24',
  nearest: { 'enqueue-batch': 'no call for many: a transaction of single enqueues' },
  lacks: ['graph'],
  fillPerSecond: { job: 1_500, write: 900, code: 900, graph: 0 },
  unfinished: "select count(*) from dbos.workflow_status where status in ('ENQUEUED', 'PENDING', 'DELAYED')",
  async open({ connectionString, home }: Place): Promise<System> {
    const { DBOS, DBOSClient } = await loadPeer<Package>(home, '@dbos-inc/dbos-sdk')
    const tools = await loadPeer<SourceTools>(home, '@dbos-inc/dbos-sdk/datasource')
    const source = dbosSource(tools, connectionString, () => ({
      workflow: DBOS.workflowID ?? '',
      step: DBOS.stepID ?? 0,
    }))
    let tell: (order: Order) => void = () => {}
    const write = async (order: Order): Promise<void> => {
      const id = DBOS.workflowID ?? ''
      await source.run(async (tx) => {
        await tx.query(INSERT, receipt(id, order))
      })
    }
    const all = flows(DBOS, write, (order) => tell(order))
    for (const [name, flow] of Object.entries(all)) DBOS.registerWorkflow(flow, { name })
    const config = { systemDatabaseUrl: connectionString, systemDatabasePoolSize: 24, logger: SILENT }
    await DBOS.migrate(connectionString)
    const client = await DBOSClient.create({ ...config, applicationName: APPLICATION })
    const pool = new Pool({ connectionString, max: 24 })
    let launched = false

    return {
      enqueue: async (order) => client.enqueue(options('job'), order),
      enqueueMany: async (kind, list) =>
        fill(pool, client, kind, list, list.length > 500 ? PER_TRANSACTION : list.length),
      enqueueIn: async (tx, order) => client.enqueueInTransaction(tx, options('job'), order),
      committed: async () => {},
      async work(kind, concurrency, handled) {
        tell = handled
        DBOS.setConfig({ name: APPLICATION, applicationVersion: VERSION, listenQueues: [kind], ...config })
        await DBOS.launch()
        launched = true
        await DBOS.registerQueue(kind, { workerConcurrency: concurrency, minPollingIntervalMs: 10 })
        return async () => DBOS.shutdown({ workflowCompletionTimeoutMS: 30_000 })
      },
      async close() {
        await client.destroy()
        await pool.end()
        await source.close()
        if (launched) await DBOS.shutdown()
      },
    }
  },
}
