// pg-boss at its best documented settings: batches, burst mode, LISTEN/NOTIFY; transactional workers for the write; flows for
// the graph. A worker's batch is one handler at work.
import type { ClientBase } from 'pg'
import { loadPeer } from '../load-peer.ts'
import type { Kind, Order, Peer, Place, System } from '../peer.ts'
import { INSERT, receipt } from '../receipts.ts'

interface Db {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}
interface Job {
  readonly id: string
  readonly data: Order
}
interface Boss {
  on(event: 'error', listener: (error: unknown) => void): void
  start(): Promise<unknown>
  stop(options: object): Promise<void>
  createQueue(name: string, options?: object): Promise<void>
  send(name: string, data: object, options?: object): Promise<string | null>
  insert(name: string, jobs: readonly object[], options?: object): Promise<unknown>
  flow(jobs: readonly object[]): Promise<unknown>
  work(name: string, options: object, handler: (jobs: readonly Job[], tx: Db) => Promise<unknown>): Promise<string>
}
interface Package {
  readonly PgBoss: new (options: object) => Boss
}

const QUEUES = ['job', 'write', 'one', 'two', 'three']
const FLOWS_AT_ONCE = 20

function over(client: ClientBase): Db {
  return { executeSql: async (text, values) => client.query<never>(text, values) }
}

async function eachFlow(boss: Boss, list: readonly Order[]): Promise<void> {
  let next = 0
  const lay = async (): Promise<void> => {
    for (let data = list[next++]; data !== undefined; data = list[next++]) {
      await boss.flow([
        { ref: 'one', name: 'one', data },
        { ref: 'two', name: 'two', data, dependsOn: ['one'] },
        { ref: 'three', name: 'three', data, dependsOn: ['two'] },
      ])
    }
  }
  await Promise.all(Array.from({ length: FLOWS_AT_ONCE }, lay))
}

const BURST = { burstWhenBatchFull: true, pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5 }

async function startWork(
  boss: Boss,
  perCommit: number,
  kind: Kind,
  concurrency: number,
  handled: (order: Order) => void,
): Promise<void> {
  const tell = async (jobs: readonly Job[]): Promise<void> => {
    for (const job of jobs) handled(job.data)
  }
  if (kind === 'job') {
    await boss.work(
      'job',
      { ...BURST, batchSize: concurrency === 1 ? 1000 : 500, localConcurrency: Math.min(concurrency, 4) },
      tell,
    )
    return
  }
  if (kind === 'write') {
    const options = { ...BURST, batchSize: perCommit, localConcurrency: Math.min(concurrency, 20), transactional: true }
    await boss.work('write', options, async (jobs, tx) => {
      for (const job of jobs) await tx.executeSql(INSERT, receipt(job.id, job.data))
      await tell(jobs)
    })
    return
  }
  const options = { ...BURST, batchSize: 500, localConcurrency: 2 }
  await boss.work('one', options, async () => {})
  await boss.work('two', options, async () => {})
  await boss.work('three', options, tell)
}

function pgBoss(name: string, perCommit: number, note: string, lacks: readonly string[]): Peer {
  return {
    name,
    version: '12.38.0',
    settings: `batches of 500 in burst mode by up to 4 workers, LISTEN/NOTIFY for the latency; transactional workers: 20, ${perCommit} jobs per commit`,
    nearest: { write: note },
    lacks,
    fillPerSecond: { job: 45_000, write: perCommit > 2 ? 30_000 : 6_000, code: 0, graph: 2_000 },
    unfinished: `select count(*) from pgboss.job where state < 'completed' and name in ('job', 'write', 'three')`,
    async open({ connectionString, home, workload }: Place): Promise<System> {
      // Every NOTIFY in a committing transaction makes the server's commits wait for each other: only where it is needed.
      const notify = workload === 'latency' || workload === 'produce'
      const { PgBoss } = await loadPeer<Package>(home, 'pg-boss')
      const boss = new PgBoss({
        connectionString,
        max: 32,
        useListenNotify: notify,
        schedule: false,
        flowIntervalSeconds: 1,
      })
      boss.on('error', (error) => console.error(name, error))
      await boss.start()
      for (const queue of QUEUES) await boss.createQueue(queue, { notify })
      return {
        enqueue: async (order) => boss.send('job', order),
        enqueueMany: async (kind, list) =>
          kind === 'graph'
            ? eachFlow(boss, list)
            : boss.insert(
                kind,
                list.map((data) => ({ data })),
              ),
        enqueueIn: async (client, order) => boss.send('job', order, { db: over(client) }),
        committed: async () => {},
        async work(kind, concurrency, handled) {
          await startWork(boss, perCommit, kind, concurrency, handled)
          return async () => boss.stop({ graceful: true, close: false, timeout: 30_000 })
        },
        close: async () => boss.stop({ graceful: true, timeout: 5_000 }),
      }
    },
  }
}

export const pgBossPeer: Peer = pgBoss(
  'pg-boss',
  2,
  'burst mode needs batches of at least 2: two jobs and their two inserts share each commit',
  ['code'],
)
/** Not the workload, for scale: 500 jobs that fail or succeed together. */
export const pgBossShared: Peer = pgBoss(
  'pg-boss, 500 per commit',
  500,
  'for scale only: 500 jobs share one commit, so one that fails undoes all',
  ['enqueue-one', 'enqueue-batch', 'enqueue-tx', 'drain-1', 'drain-10', 'drain-50', 'code', 'graph', 'latency'],
)
