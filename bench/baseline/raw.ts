// Loads of bare statements over `pg`, one per commit, on as many connections as the job says.
import { Client } from 'pg'
import type { Job, Load } from '../load/job.ts'
import { payload } from '../load/payload.ts'
import type { Tally } from '../load/tally.ts'
import { unique } from '../load/unique.ts'
import { RAW, fillRawTables, makeRawTables } from './raw-tables.ts'

type Ask = (name: string, text: string, values: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

async function eachClient(
  job: Job,
  begin: () => Tally,
  loop: (ask: Ask, index: number, tally: Tally) => Promise<void>,
): Promise<Tally> {
  const clients = Array.from({ length: job.connections }, () => new Client({ connectionString: job.connectionString }))
  await Promise.all(clients.map((client) => client.connect()))
  try {
    const tally = begin()
    await Promise.all(
      clients.map((client, index) =>
        loop(
          async (name, text, values) =>
            (await client.query<Record<string, unknown>>({ name, text, values: [...values] })).rows,
          index,
          tally,
        ),
      ),
    )
    return tally
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

const pushing = async (job: Job, begin: () => Tally, withUnique: boolean): Promise<Tally> => {
  await makeRawTables(job.connectionString, withUnique)
  return eachClient(job, begin, async (ask, index, tally) => {
    while (tally.running()) {
      const ids = Array.from({ length: job.batch }, unique)
      const payloads = ids.map((_, number) => payload(number))
      const started = performance.now()
      await ask('push', RAW.push, [index, ids, payloads])
      tally.done(job.batch, started)
    }
  })
}

export const rawPush: Load = (job, begin) => pushing(job, begin, false)
export const rawPushUnique: Load = (job, begin) => pushing(job, begin, true)

export const rawPopAck: Load = async (job, begin) => {
  await makeRawTables(job.connectionString, false)
  await fillRawTables(job.connectionString, job.connections, job.batch * 2000, payload(1))
  return eachClient(job, begin, async (ask, index, tally) => {
    let next = 0
    while (tally.running()) {
      const started = performance.now()
      const rows = await ask('pop', RAW.pop, [index, 'lease', job.batch])
      if (rows.length < job.batch) {
        // Around again: what is measured is the work per batch, not the length of the log.
        next = 0
        await ask('ack', RAW.ack, [index, 0])
        continue
      }
      next += rows.length
      await ask('ack', RAW.ack, [index, next])
      tally.done(rows.length, started)
    }
  })
}

export const rawStep: Load = async (job, begin) => {
  await makeRawTables(job.connectionString, false)
  return eachClient(job, begin, async (ask, index, tally) => {
    for (let version = 0; tally.running(); version += 1) {
      const started = performance.now()
      await ask('step', RAW.step, [
        index,
        `k-${index}`,
        '{"status":"shipping","at":12345}',
        version,
        unique(),
        payload(1),
      ])
      tally.done(1, started)
    }
  })
}
