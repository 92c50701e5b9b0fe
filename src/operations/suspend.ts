// Lets a run of code wait without a worker: for an instant, for signals, for what it called. Spends nothing.
import type { Executor } from '../db/executor.ts'

export interface Suspension {
  readonly sleeps: readonly { readonly name: string; readonly ms: number }[]
  readonly signals: readonly { readonly step: string; readonly signal: string; readonly timeoutMs: number | null }[]
  /** Ordinals of called nodes. */
  readonly called: readonly number[]
  /** Ids of child runs. */
  readonly children: readonly string[]
}

const SUSPEND =
  'select lockstep.suspend($1::uuid, $2, $3::text[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::int[], $9::uuid[])'

/** False: the token no longer holds. */
export async function suspend(db: Executor, runId: string, leaseId: string, waits: Suspension): Promise<boolean> {
  const [row] = await db.rows(SUSPEND, [
    runId,
    leaseId,
    waits.sleeps.map((one) => one.name),
    waits.sleeps.map((one) => one.ms.toString()),
    waits.signals.map((one) => one.step),
    waits.signals.map((one) => one.signal),
    waits.signals.map((one) => one.timeoutMs?.toString() ?? null),
    waits.called.map(String),
    waits.children,
  ])
  return row?.[0] === 'ok'
}
