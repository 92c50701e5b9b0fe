// Lists dead letters, newest first, of one queue or of all.
import type { Executor } from '../db/executor.ts'
import type { DeadLetter, DeadLetterFilter } from '../protocol/dead-letter.ts'
import type { Page } from '../protocol/page.ts'
import { LIMITS } from '../protocol/limits.ts'
import { deadLetterRow } from './dead-letter-row.ts'

const LIST =
  'select * from lockstep.list_dead_letters($1, $2, $3, $4::timestamptz, $5::timestamptz, $6::int, $7::int, $8::int, $9)'

export interface DeadLetterPage extends Partial<DeadLetterFilter> {
  /** A text that the error must hold. */
  readonly error?: string | null
  readonly limit?: number
  readonly offset?: number
}

export async function listDeadLetters(db: Executor, page: DeadLetterPage = {}): Promise<Page<DeadLetter>> {
  const { queue = null, group = null, partition = null, from = null, to = null, error = null } = page
  const limit = Math.min(page.limit ?? LIMITS.listLimitDefault, LIMITS.listLimit)
  const bounds = [String(limit), String(page.offset ?? 0), String(LIMITS.listBytes)]
  const rows = await db.rows(LIST, [queue, group, partition, from, to, ...bounds, error])
  return { entries: rows.map((row) => deadLetterRow(row, db.vault)), cut: rows[0]?.[18] === 't' }
}
