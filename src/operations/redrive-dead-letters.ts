// Moves many dead letters of a queue back, oldest first, a thousand to a commit; each moves whole or stays. Interrupted, it
// has moved some and the same call moves the rest. A dry run counts and changes nothing.
import type { Executor } from '../db/executor.ts'
import type { DeadLetterSelection } from '../protocol/dead-letter.ts'
import { LIMITS } from '../protocol/limits.ts'

const REDRIVE =
  'select * from lockstep.redrive_dead_letters($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $7::int, $8::boolean, $9)'

export interface RedriveCount {
  readonly matched: number
  readonly moved: number
  /** Their copy is still known, or the queue is full. */
  readonly kept: number
  /** Kept until redriveDeadLetter moves each, as they are sealed, or must be. */
  readonly sealed: readonly string[]
}

export async function redriveDeadLetters(
  db: Executor,
  selection: DeadLetterSelection,
  dryRun = false,
): Promise<RedriveCount> {
  const { queue, group, partition, error, from, to } = selection
  const count = { matched: 0, moved: 0, kept: 0 }
  const sealed: string[] = []
  let after: string | null = ''
  while (after !== null) {
    const params = [queue, group, partition, error, from, to, String(LIMITS.listLimit), String(dryRun), after]
    const [row] = await db.rows(REDRIVE, params)
    count.matched += Number(row?.[0])
    count.moved += Number(row?.[1])
    count.kept += Number(row?.[2])
    after = row?.[3] ?? null
    sealed.push(...(row?.[4] ?? '').split(' ').filter((id) => id !== ''))
  }
  return { ...count, sealed }
}
