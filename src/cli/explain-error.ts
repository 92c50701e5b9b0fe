// Turns whatever a command threw into what a person reads and what a program parses: the message, a stable code, and a line
// to copy where one helps. Connection strings and their passwords never get through.

import { LockstepError } from '../protocol/errors.ts'
import { asRun } from './as-run.ts'
import { UsageError } from './usage-error.ts'

export interface Explained {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly retry: string
  /** 2 for a command line that cannot be run, else 1. */
  readonly status: 1 | 2
}

const HINTS: Readonly<Record<string, string>> = {
  schema_missing: 'lockstep migrate',
  schema_outdated: 'lockstep migrate',
  not_found: 'lockstep queue list',
  unavailable: 'lockstep doctor',
}

export function explainError(error: unknown): Explained {
  if (error instanceof UsageError) {
    return { code: 'usage', message: error.message, hint: error.hint, retry: 'never', status: 2 }
  }
  if (error instanceof LockstepError) {
    const cause = error.cause instanceof Error && error.cause.message !== '' ? ` (${error.cause.message})` : ''
    const message = error.message.includes(cause.slice(2, -1)) ? error.message : error.message + cause
    return { code: error.code, message: redact(message), hint: hintOf(error), retry: error.retry, status: 1 }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'internal', message: redact(text), hint: '', retry: 'never', status: 1 }
}

export function errorText(explained: Explained): string {
  const hint = explained.hint
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `\n    ${asRun(line)}`)
    .join('')
  return hint === '' ? explained.message : `${explained.message}\n  try:${hint}`
}

export function errorJson(explained: Explained): string {
  const { code, message, hint, retry } = explained
  return JSON.stringify({ error: { code, message, retry, hint: hint === '' ? null : asRun(hint) } })
}

function hintOf(error: LockstepError): string {
  const { hint } = error.details
  return typeof hint === 'string' ? hint : (HINTS[error.code] ?? '')
}

function redact(text: string): string {
  return text.replaceAll(/(postgres(?:ql)?:\/\/[^:@/\s]*):[^@\s]*@/gi, '$1:***@')
}
