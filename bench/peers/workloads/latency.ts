// From the COMMIT in one process to the start of the handler in another, at ten jobs a second. Both read the machine's
// monotonic clock; the time is taken just before COMMIT is sent, so the commit itself is in it.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { at } from '../../load/tally.ts'
import { order } from '../orders.ts'
import type { PeerJob } from '../peer-job.ts'
import type { Measure } from '../workload.ts'

const EVERY_MS = 100
/** The first ones find cold connections. */
const SKIPPED = 10
const SHORTEST_SECONDS = 15
const PATIENCE_MS = 10_000

const jobsOf = (job: PeerJob): number => (Math.max(job.seconds, SHORTEST_SECONDS) * 1000) / EVERY_MS + SKIPPED

/** The other process: begins when the worker runs. */
export const produce: Measure = async (peer, job) => {
  const system = await peer.open(job)
  const client = new Client({ connectionString: job.connectionString })
  await client.connect()
  try {
    for (let left = jobsOf(job); left > 0; left -= 1) {
      await sleep(EVERY_MS)
      await client.query('begin')
      const sent = order(String(process.hrtime.bigint()))
      await system.enqueueIn(client, sent)
      await client.query('commit')
      await system.committed()
    }
  } finally {
    await client.end()
    await system.close()
  }
  return { rate: Number.NaN, p50: Number.NaN, p99: Number.NaN, errors: [] }
}

async function produceElsewhere(job: PeerJob): Promise<void> {
  const path = fileURLToPath(new URL('../peer-process.js', import.meta.url))
  const child = fork(path, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' })
  child.send({ ...job, workload: 'produce' })
  await new Promise<void>((resolve, reject) => {
    child.once('message', () => child.disconnect())
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`the producer ended with ${code ?? 'a signal'}`)),
    )
  })
}

export const latency: Measure = async (peer, job) => {
  const system = await peer.open(job)
  try {
    const times: number[] = []
    const stop = await system.work('job', 10, ({ sentNs }) => {
      times.push(Number(process.hrtime.bigint() - BigInt(sentNs)) / 1e6)
    })
    await sleep(2000)
    await produceElsewhere(job)
    const expected = jobsOf(job)
    for (let waited = 0; times.length < expected && waited < PATIENCE_MS; waited += 100) await sleep(100)
    await stop()
    const sorted = Float64Array.from(times.slice(SKIPPED)).toSorted()
    const errors = times.length === expected ? [] : [`${times.length} of ${expected} jobs were handled`]
    return { rate: sorted.length, p50: at(sorted, 0.5), p99: at(sorted, 0.99), errors }
  } finally {
    await system.close()
  }
}
