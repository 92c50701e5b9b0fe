// How much is staged and not placed yet, for doctor: a backlog means that nobody looks.
import type { Executor } from '../db/executor.ts'

/** Counted to 10,001 at most. */
export async function countStaged(db: Executor): Promise<{ readonly messages: number; readonly queues: number }> {
  const [row] = await db.rows('select * from lockstep.count_staged()', [])
  return { messages: Number(row?.[0] ?? 0), queues: Number(row?.[1] ?? 0) }
}
