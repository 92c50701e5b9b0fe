// Of many runs that somebody waits for: the positions of those that have ended. Reads only.
import type { Executor } from '../db/executor.ts'

export async function watchRuns(db: Executor, runIds: readonly string[]): Promise<readonly number[]> {
  if (runIds.length === 0) return []
  return (await db.rows('select nth from lockstep.watch_runs($1::uuid[])', [runIds])).map(([nth]) => Number(nth) - 1)
}
