// The process of one measurement, on the Node that the peers ask for: takes its job from its parent, answers the outcome, ends.
import { Client } from 'pg'
import type { PeerJob, PeerReply } from './peer-job.ts'
import { PEERS } from './peers.ts'
import { RECEIPT_TABLE } from './receipts.ts'
import type { Measure } from './workload.ts'
import { WORKLOADS } from './workloads.ts'
import { produce } from './workloads/latency.ts'

function measureOf(workload: string): Measure | undefined {
  return workload === 'produce' ? produce : WORKLOADS.find((one) => one.name === workload)?.measure
}

async function run(job: PeerJob): Promise<PeerReply> {
  const client = new Client({ connectionString: job.connectionString })
  try {
    const peer = PEERS.find((one) => one.name === job.peer)
    const measure = measureOf(job.workload)
    if (peer === undefined || measure === undefined) throw new Error(`nothing is called ${job.peer} ${job.workload}`)
    await client.connect()
    if (job.workload !== 'produce') await client.query(RECEIPT_TABLE)
    return { outcome: await measure(peer, job, client) }
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  } finally {
    await client.end()
  }
}

process.once('message', (job: PeerJob) => {
  void run(job).then((reply) => process.send?.(reply))
})
// A peer that leaves timers behind must not keep the bench.
process.on('disconnect', () => process.exit(0))
