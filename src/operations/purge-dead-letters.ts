// Removes dead letters of a queue by filter, or counts them in a dry run; null when there is no such queue.
import type { Executor } from '../db/executor.ts'
import type { DeadLetterSelection } from '../protocol/dead-letter.ts'

const PURGE = 'select lockstep.purge_dead_letters($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $7::boolean)'

export async function purgeDeadLetters(
  db: Executor,
  selection: DeadLetterSelection,
  dryRun = false,
): Promise<number | null> {
  const { queue, group, partition, error, from, to } = selection
  const [row] = await db.rows(PURGE, [queue, group, partition, error, from, to, String(dryRun)])
  return typeof row?.[0] === 'string' ? Number(row[0]) : null
}
