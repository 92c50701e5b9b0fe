// Lockstep straight on PostgreSQL, in the load's own process: the step through the client, and pushes that ride in the
// user's own transactions.
import { Lockstep } from '../../src/index.ts'
import { userTransactions } from '../baseline/user-tx.ts'
import type { Job, Load } from './job.ts'
import type { Tally } from './tally.ts'

const POPPED = 100
const DATA = {
  orderId: 'order-1',
  status: 'paid',
  amount: 12345,
  note: 'northbound-warehouse-7/shelf-19/left, handle with care; ring twice, leave with the neighbour if nobody opens',
}

export const stepInProcess: Load = async (job, begin) => {
  const lockstep = new Lockstep({ connectionString: job.connectionString, connections: 16 })
  try {
    const each = Math.ceil((14_000 * (job.seconds + job.warmupSeconds)) / job.connections)
    const workers = Array.from({ length: job.connections }, (_, index) => index)
    await Promise.all(workers.map((index) => fill(lockstep, job.queue, `p-${index}`, each)))
    const tally = begin()
    await Promise.all(workers.map((index) => work(lockstep, job, index, tally)))
    return tally
  } finally {
    await lockstep.close({ timeoutMs: 1000 })
  }
}

async function fill(lockstep: Lockstep, queue: string, partition: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1000) {
    await lockstep
      .queue(queue)
      .partition(partition)
      .push(Array.from({ length: Math.min(left, 1000) }, () => ({ data: DATA })))
  }
}

async function work(lockstep: Lockstep, job: Job, index: number, tally: Tally): Promise<void> {
  const partition = `p-${index}`
  const source = lockstep.queue(job.queue).partition(partition).group('bench').subscriptionMode('all').batch(POPPED)
  let version = 0
  while (tally.running()) {
    const messages = await source.pop()
    if (messages.length === 0) {
      tally.failed('the queue was empty: fill it with more')
      return
    }
    for (const message of messages) {
      if (!tally.running()) return
      const started = performance.now()
      const result = await lockstep
        .transaction()
        .ack(message)
        .kv.put(
          'bench',
          `${job.queue}-${index}`,
          { status: 'shipping', at: 12345 },
          { ttl: '1d', expect: version, required: true },
        )
        .queue(`${job.queue}-out`)
        .partition(partition)
        .push({ data: DATA })
        .commit()
      if (!result.success) {
        tally.failed(JSON.stringify(result))
        return
      }
      tally.done(1, started)
      const put = result.results.find((outcome) => outcome.type === 'kv')
      version = put?.type === 'kv' && put.op === 'put' ? put.version : 0
    }
  }
}

/** A reader empties the partition meanwhile, as in life: it places what was staged. */
export const userTxPush: Load = async (job, begin) => {
  const lockstep = new Lockstep({ connectionString: job.connectionString, connections: 4 })
  const stop = new AbortController()
  const reading = lockstep
    .queue(job.queue)
    .group('bench')
    .subscriptionMode('all')
    .batch(1000)
    .consume(() => {}, { signal: stop.signal })
  try {
    return await userTransactions(job, begin, (client) =>
      lockstep.in(client).queue(job.queue).partition('one').push({ data: DATA }),
    )
  } finally {
    stop.abort()
    await reading
    await lockstep.close({ timeoutMs: 5000 })
  }
}
