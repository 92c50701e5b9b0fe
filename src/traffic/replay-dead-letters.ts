// Moves the dead letters of a selection back: those that PostgreSQL can move by itself a thousand to a commit, and the sealed ones
// one by one, as each is sealed anew for its copy's place. A fault leaves the rest where it is, for the same call again.
import type { Executor } from '../db/executor.ts'
import { redriveDeadLetter } from '../operations/redrive-dead-letter.ts'
import { redriveDeadLetters } from '../operations/redrive-dead-letters.ts'
import type { DeadLetterSelection } from '../protocol/dead-letter.ts'

export interface ReplayCount {
  readonly matched: number
  readonly moved: number
  /** Their copy is still known, or the queue is full. */
  readonly kept: number
}

export async function replayDeadLetters(
  db: Executor,
  selection: DeadLetterSelection,
  dryRun: boolean,
): Promise<ReplayCount> {
  const { sealed, ...count } = await redriveDeadLetters(db, selection, dryRun)
  let { moved, kept } = count
  for (const id of sealed) {
    const { result } = await redriveDeadLetter(db, id)
    if (result === 'moved') moved += 1
    else if (result !== 'gone') kept += 1
  }
  return { matched: count.matched, moved, kept }
}
