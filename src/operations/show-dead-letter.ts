// One dead letter by its id; null when there is none.
import type { Executor } from '../db/executor.ts'
import type { DeadLetter } from '../protocol/dead-letter.ts'
import { deadLetterRow } from './dead-letter-row.ts'

export async function showDeadLetter(db: Executor, id: string): Promise<DeadLetter | null> {
  const [row] = await db.rows('select * from lockstep.show_dead_letter($1::uuid)', [id])
  return row === undefined ? null : deadLetterRow(row, db.vault)
}
