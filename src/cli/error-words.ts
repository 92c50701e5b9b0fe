// A stored error of a run or a node in one line for people: what went wrong, its code where it says more, and its causes.
import { isRecord } from '../protocol/check.ts'
import { visible } from './show-table.ts'

/** Codes that every failure has which names no other. */
const PLAIN: ReadonlySet<unknown> = new Set(['failed', 'cause', 'node_failed', 'cancelled', 'deadline_exceeded'])

function wordsOf(error: unknown): string {
  if (!isRecord(error)) return String(error)
  const { message, code, cause, compensation } = error
  const said = typeof message === 'string' && message !== '' ? message : 'no message'
  return [
    said,
    typeof code === 'string' && !PLAIN.has(code) ? ` (${code})` : '',
    typeof compensation !== 'string' ? '' : ` (what it did is undone: ${compensation})`,
    isRecord(cause) ? `: ${wordsOf(cause)}` : '',
  ].join('')
}

export function errorWords(json: string | null): string {
  return json === null ? '' : visible(wordsOf(JSON.parse(json)))
}
