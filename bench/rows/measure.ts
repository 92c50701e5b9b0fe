// Runs one row: configures its queue, hands the job to the load process, watches memory and processor time meanwhile.
import type { Job, Outcome } from '../load/job.ts'
import { cpuSeconds, residentBytes } from '../machine.ts'
import type { Child } from './child.ts'
import type { Row } from './row.ts'

export interface Bench {
  readonly connectionString: string
  readonly postgresPid: number
  readonly seconds: number
  readonly load: Child
  /** Null when no row of the run needs one. */
  readonly broker: (Child & { readonly url: string }) | null
  readonly echo: Child & { readonly url: string }
}

export interface Measured {
  readonly row: Row
  readonly rate: number
  readonly outcome: Outcome
  /** Of the broker: highest resident memory seen, and before the row. */
  readonly brokerBytes: number
  readonly brokerBytesBefore: number
  /** Processor microseconds per unit, from the first request to the last, preparation of the row not included. */
  readonly cpu: { readonly load: number; readonly broker: number; readonly postgres: number }
}

// Long enough for 200 connections to plan what they run.
const WARMUP_SECONDS = 2

export async function measure(bench: Bench, row: Row, queue: string): Promise<Measured> {
  const url = { broker: bench.broker?.url ?? '', echo: bench.echo.url, none: '' }[row.server]
  if (row.options !== undefined) await configure(url, queue, row.options)
  const pid = bench.broker?.pid ?? 0
  const brokerBytesBefore = residentBytes(pid)
  let brokerBytes = brokerBytesBefore
  const watch = setInterval(() => (brokerBytes = Math.max(brokerBytes, residentBytes(pid))), 100)
  const job: Job = {
    load: row.load,
    url,
    connectionString: bench.connectionString,
    queue,
    connections: row.connections,
    warmupSeconds: WARMUP_SECONDS,
    seconds: bench.seconds,
    batch: row.batch,
    partitions: row.partitions,
  }
  try {
    const { outcome, used } = await bench.load.run(job, () => [cpuSeconds(pid), cpuSeconds(bench.postgresPid)])
    const { units, seconds } = outcome.figures
    const perUnit = (cpuPerSecond: number): number => (cpuPerSecond * 1e6 * seconds) / units
    const elapsed = seconds + WARMUP_SECONDS
    return {
      row,
      rate: row.unit.endsWith('/s') ? units / seconds : units,
      outcome,
      brokerBytes,
      brokerBytesBefore,
      cpu: {
        load: perUnit(outcome.cpu),
        broker: perUnit((used[0] ?? 0) / elapsed),
        postgres: perUnit((used[1] ?? 0) / elapsed),
      },
    }
  } finally {
    clearInterval(watch)
  }
}

async function configure(url: string, queue: string, options: NonNullable<Row['options']>): Promise<void> {
  const answer = await fetch(`${url}/api/v1/configure`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ queue, options }),
  })
  if (answer.status !== 200) throw new Error(`configure ${queue}: ${answer.status} ${await answer.text()}`)
}
