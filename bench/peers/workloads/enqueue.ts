// Enqueueing: so many callers, each sending its next when the last one is durable. Nothing drains meanwhile.
import { Client } from 'pg'
import { startTally, type Tally } from '../../load/tally.ts'
import { order, orders } from '../orders.ts'
import type { PeerJob, PeerOutcome } from '../peer-job.ts'
import type { Peer, System } from '../peer.ts'
import type { Measure } from '../workload.ts'

async function callers(
  peer: Peer,
  job: PeerJob,
  count: number,
  call: (system: System, index: number) => Promise<number>,
): Promise<PeerOutcome> {
  const system = await peer.open(job)
  try {
    const tally: Tally = startTally(job.warmupSeconds, job.seconds)
    const loop = async (_: unknown, index: number): Promise<void> => {
      while (tally.running()) {
        const started = performance.now()
        try {
          tally.done(await call(system, index), started)
        } catch (error) {
          tally.failed(error instanceof Error ? error.message : String(error))
          return
        }
      }
    }
    await Promise.all(Array.from({ length: count }, loop))
    const { units, seconds, p50, p99, firstError } = tally.figures()
    return { rate: units / seconds, p50, p99, errors: firstError === null ? [] : [firstError] }
  } finally {
    await system.close()
  }
}

export const enqueueOne: Measure = async (peer, job) =>
  callers(peer, job, 20, async (system) => {
    await system.enqueue(order(''))
    return 1
  })

export const enqueueBatch: Measure = async (peer, job) =>
  callers(peer, job, 4, async (system) => {
    await system.enqueueMany('job', orders(500))
    return 500
  })

export const enqueueTx: Measure = async (peer, job) => {
  const clients = Array.from({ length: 20 }, () => new Client({ connectionString: job.connectionString }))
  await Promise.all(clients.map(async (client) => client.connect()))
  try {
    return await callers(peer, job, clients.length, async (system, index) => {
      const client = clients[index]
      if (client === undefined) throw new Error('a caller without a connection')
      const one = order('')
      await client.query('begin')
      await client.query('insert into receipt (job_id, order_id, amount) values ($1, $1, $2)', [
        one.orderId,
        one.amount,
      ])
      await system.enqueueIn(client, one)
      await client.query('commit')
      await system.committed()
      return 1
    })
  } finally {
    for (const client of clients) await client.end()
  }
}
