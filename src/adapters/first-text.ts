// Reads the one text that a statement of ours answers, from the row as a library gives it. The column's name is not looked
// at: a library may write names in its own way.
import { LockstepError } from '../protocol/errors.ts'

/** Of the first of these rows; null without one. */
export function firstText(rows: unknown): string | null {
  if (!Array.isArray(rows)) throw unexpected('no list of rows')
  const row: unknown = rows[0]
  if (row === undefined) return null
  const value: unknown = typeof row === 'object' && row !== null ? Object.values(row)[0] : row
  if (typeof value === 'string' || value === null) return value
  throw unexpected(typeof value)
}

/** Of a result that has its rows at `rows`, as `pg` and what builds on it gives it. */
export function textOfResult(result: unknown): string | null {
  return firstText(typeof result === 'object' && result !== null ? Reflect.get(result, 'rows') : undefined)
}

function unexpected(what: string): LockstepError {
  return new LockstepError('internal', `the transaction answered ${what} instead of text`)
}
