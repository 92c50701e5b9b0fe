// Runs what is due until nothing is: upkeep (schedules, delayed messages, deadlines) and, through the worker, every node. What
// is due later, or waits for a signal, stays; what no worker here knows is told instead of waited for.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor } from '../db/executor.ts'
import { allJobs, type UpkeepOptions } from '../upkeep/runner.ts'

export interface DrainPorts {
  readonly database: Executor
  readonly onPlaced: NonNullable<UpkeepOptions['onPlaced']>
  readonly wake: () => Promise<void>
  readonly timeoutMs: number
}

/** Unfinished nodes that may run now, and those that are leased: name, how many, how many of them leased or once claimed. */
const DUE = `
  select n.want, count(*)::text, (count(*) filter (where n.lease_expires_at is not null or n.attempt > 0))::text
    from lockstep.node n cross join (select lockstep.clock() as now offset 0) c
    left join lockstep.run_limit l on n.filed and l.want = n.want and l.key = n.limit_key
   where n.finished_at is null and n.want is not null
     and (n.lease_expires_at > c.now
       or n.available_at <= c.now and (not n.filed or l.available_at <= c.now and coalesce(l.next_allowed_at <= c.now, true)))
   group by n.want order by n.want`
const PAUSE_MS = 10
/** What nobody claimed for so long although it is due. */
const UNKNOWN_AFTER_MS = 3_000

export async function runUpkeep({ database, onPlaced }: Pick<DrainPorts, 'database' | 'onPlaced'>): Promise<void> {
  for (const job of allJobs(onPlaced)) {
    while ((await job.step(database)).more) continue
  }
}

export async function drain(ports: DrainPorts): Promise<void> {
  const started = performance.now()
  let movedAt = started
  let before = ''
  for (;;) {
    await runUpkeep(ports)
    const due = await ports.database.rows(DUE, [])
    if (due.length === 0) return
    await ports.wake()
    const now = performance.now()
    const seen = JSON.stringify(due)
    if (seen !== before) movedAt = now
    before = seen
    const names = due.map(([want, count]) => `${want ?? ''} (${count ?? ''})`).join(', ')
    if (now - movedAt > UNKNOWN_AFTER_MS && due.every(([, , claimed]) => claimed === '0'))
      throw new Error(`nobody runs what is due: ${names}. Is it registered?`)
    if (now - started > ports.timeoutMs) throw new Error(`still due after ${ports.timeoutMs} ms: ${names}`)
    await sleep(PAUSE_MS)
  }
}
