// Drop calls: cancels what a run of code has called and waits for no more, under its token.
import type { Executor } from '../db/executor.ts'

const DROP = 'select lockstep.drop_calls($1::uuid, $2)'

/** How many; null when the token is lost. */
export async function dropCalls(db: Executor, runId: string, leaseId: string): Promise<number | null> {
  const [row] = await db.rows(DROP, [runId, leaseId])
  const dropped = row?.[0] ?? null
  return dropped === null ? null : Number(dropped)
}
