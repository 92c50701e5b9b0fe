// User transactions that stay open for 20 ms, as those of an application with a slow call inside: without any push, and
// with the lock of one partition held to the commit, as the obvious form of a push would. Both write a row of the user's.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { Job, Load } from '../load/job.ts'
import { payload } from '../load/payload.ts'
import type { Tally } from '../load/tally.ts'
import { unique } from '../load/unique.ts'
import { RAW, makeRawTables } from './raw-tables.ts'

const OPEN_MS = 20

/** What the transaction does besides the user's own row, right after it. */
export type Inside = (client: Client, job: Job) => Promise<unknown>

export async function userTransactions(job: Job, begin: () => Tally, inside: Inside): Promise<Tally> {
  await makeRawTables(job.connectionString, false)
  const clients = Array.from({ length: job.connections }, () => new Client({ connectionString: job.connectionString }))
  await Promise.all(clients.map((client) => client.connect()))
  await clients[0]?.query('create table bench.orders (id text primary key, body text)')
  try {
    const tally = begin()
    await Promise.all(clients.map((client) => loop(client, job, tally, inside)))
    return tally
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

async function loop(client: Client, job: Job, tally: Tally, inside: Inside): Promise<void> {
  while (tally.running()) {
    const started = performance.now()
    try {
      await client.query('begin')
      await client.query({
        name: 'order',
        text: 'insert into bench.orders values ($1, $2)',
        values: [unique(), payload(1)],
      })
      await inside(client, job)
      await sleep(OPEN_MS)
      const { command } = await client.query('commit')
      if (command === 'COMMIT') tally.done(1, started)
      else tally.failed(command)
    } catch (error) {
      tally.failed(String(error))
      await client.query('rollback')
    }
  }
}

export const userTxNone: Load = (job, begin) => userTransactions(job, begin, async () => {})

export const userTxLock: Load = (job, begin) =>
  userTransactions(job, begin, (client) =>
    client.query({ name: 'push', text: RAW.push, values: [0, [unique()], [payload(1)]] }),
  )
