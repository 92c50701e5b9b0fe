// Gives the oldest signal of a name to a step of code, or ends its wait at its timeout.
import type { Executor } from '../db/executor.ts'

export interface TakenSignal {
  readonly verdict: 'ok' | 'none' | 'timeout' | 'lease_lost'
  readonly payload: string | null
}

export async function takeSignal(
  db: Executor,
  runId: string,
  leaseId: string,
  step: string,
  signal: string,
): Promise<TakenSignal> {
  const [row] = await db.rows('select * from lockstep.take_signal($1::uuid, $2, $3, $4)', [
    runId,
    leaseId,
    step,
    signal,
  ])
  const verdict = row?.[0]
  return {
    verdict: verdict === 'ok' || verdict === 'none' || verdict === 'timeout' ? verdict : 'lease_lost',
    payload: row?.[1] ?? null,
  }
}
