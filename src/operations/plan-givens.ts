// The outputs that planning functions are given: of the asked nodes, of many runs, in one read.
import type { Executor } from '../db/executor.ts'

export interface GivenOutput {
  /** Which of the asked it belongs to. */
  readonly at: number
  /** Of an item of a map. */
  readonly itemKey: string | null
  readonly ok: boolean
  readonly output: string | null
  readonly error: string | null
}

export async function planGivens(
  db: Executor,
  asked: readonly { readonly runId: string; readonly ordinal: number }[],
): Promise<readonly GivenOutput[]> {
  if (asked.length === 0) return []
  const rows = await db.rows('select * from lockstep.plan_givens($1::uuid[], $2::int[])', [
    asked.map((one) => one.runId),
    asked.map((one) => one.ordinal.toString()),
  ])
  return rows.map(([nth, , itemKey, ok, output, error]) => ({
    at: Number(nth) - 1,
    itemKey: itemKey ?? null,
    ok: ok === 't',
    output: output ?? null,
    error: error ?? null,
  }))
}
