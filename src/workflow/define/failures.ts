// What a handler throws to say how its failure is meant, and how any thrown value is written down as JSON so that a waiter
// in another process can be given it again with its cause. Never a stack: it names paths of the machine that failed.
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { durationMs } from '../../protocol/durations.ts'

/** Thrown by a handler: the failure is final, no attempt follows. */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/** Thrown by a handler: the next attempt comes after this pause instead of the backoff's. It spends an attempt. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: number

  constructor(delay: number | string, message = 'to be tried again later', options?: ErrorOptions) {
    super(message, options)
    this.delayMs = typeof delay === 'number' ? delay : durationMs(delay, 'delay')
    if (!Number.isSafeInteger(this.delayMs) || this.delayMs < 0 || this.delayMs > LIMITS.runDelayMs) {
      throw new LockstepError(
        'bad_request',
        `delay must be whole milliseconds up to ${LIMITS.runDelayMs}; got ${delay}`,
      )
    }
  }
}

/** An error as it is stored. */
export interface StoredError {
  readonly code: string
  readonly message: string
  readonly name?: string
  readonly node?: string
  readonly details?: unknown
  readonly cause?: StoredError
  readonly compensation?: 'complete' | 'incomplete'
}

const DEPTH = 5
const ISSUES = 20

const CHARACTERS = LIMITS.errorTextBytes / 4

/** What JSON columns and their readers can hold: no NUL, no half of a surrogate pair, and not too much of it. */
function cut(text: string): string {
  const short = text.length > CHARACTERS ? `${text.slice(0, CHARACTERS)}…` : text
  return short.replaceAll(/\0|\p{Surrogate}/gu, '�')
}

/** Of anything that can be thrown, also where it has no text of its own. */
function told(thrown: unknown): string {
  if (typeof thrown === 'string') return cut(thrown)
  try {
    return cut(JSON.stringify(thrown) ?? String(thrown))
  } catch {
    return `a thrown ${typeof thrown} that has no text`
  }
}

/** Of a schema's issues the first ones, each by where it is and what is wrong. */
function issuesTold(issues: readonly unknown[]): unknown {
  return issues
    .slice(0, ISSUES)
    .map((issue): unknown =>
      typeof issue === 'object' && issue !== null
        ? Object.fromEntries(Object.entries(issue).map(([name, value]) => [name, told(value)]))
        : told(issue),
    )
}

function codeOf(error: object, fallback: string): string {
  const code: unknown = Reflect.get(error, 'code')
  return typeof code === 'string' && code !== '' ? cut(code) : fallback
}

export function storedError(error: unknown, fallback = 'failed', depth = 0): StoredError {
  if (!(error instanceof Error)) {
    return {
      code: fallback,
      message: told(error),
    }
  }
  return {
    code: codeOf(error, fallback),
    message: told(error.message),
    name: told(error.name),
    ...(error instanceof LockstepError && Array.isArray(error.details['issues'])
      ? { details: issuesTold(error.details['issues']) }
      : {}),
    ...(error.cause === undefined || depth >= DEPTH ? {} : { cause: storedError(error.cause, 'cause', depth + 1) }),
  }
}

/** The stored error as an Error: its name, message, code and causes are what was thrown; its class is not. */
export function revivedError(stored: StoredError): Error {
  const cause = stored.cause === undefined ? undefined : revivedError(stored.cause)
  const error = new Error(stored.message, cause === undefined ? undefined : { cause })
  if (stored.name !== undefined) error.name = stored.name
  Object.defineProperty(error, 'code', { value: stored.code, enumerable: true })
  if (stored.details !== undefined) Object.defineProperty(error, 'details', { value: stored.details, enumerable: true })
  return error
}
