// The one place where an error of PostgreSQL, of the driver or of the network becomes a LockstepError. What it decides
// besides the name is the hardest thing: whether "nothing was committed" is certain. Where it is not, it says unknown.
import { ERRORS, LockstepError, type ErrorCode } from '../protocol/errors.ts'
import { serverErrorOf } from './server-error.ts'

/** What was on the wire when the error came. */
export interface Circumstance {
  /** A COMMIT had been sent and its command tag had not arrived. */
  readonly commitSent: boolean
}

const OWN_CODES: ReadonlyMap<string, ErrorCode> = new Map(
  Object.keys(ERRORS)
    .filter(isErrorCode)
    .flatMap((code) => (ERRORS[code].sqlstate === null ? [] : [[ERRORS[code].sqlstate, code] as const])),
)

const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
])

/** SQLSTATE of an error, wherever a driver or a library around it keeps it; null for errors that are not the server's. */
export function sqlstateOf(error: unknown): string | null {
  if (error instanceof LockstepError && typeof error.details['sqlstate'] === 'string') return error.details['sqlstate']
  return serverErrorOf(error)?.sqlstate ?? null
}

/** True when the whole transaction may be run again at once: a deadlock, a serialization failure, or it never began. */
export function isRetryable(error: unknown): boolean {
  const sqlstate = sqlstateOf(error)
  return (
    sqlstate === '40001' ||
    sqlstate === '40P01' ||
    (error instanceof LockstepError && error.details['unstarted'] === true)
  )
}

/**
 * True for the farewell of a backend that was told to end. It looks for that order only between commands and at safe
 * points, never between a finished commit and its tag: without a tag before it, nothing was committed.
 */
export function isFarewell(error: unknown): boolean {
  return isConnectionState(error) && serverErrorOf(error)?.routine === 'ProcessInterrupts'
}

/** True when the session behind the error is gone or in an unknown state: its client must never be used again. */
export function endsSession(error: unknown): boolean {
  if (sqlstateOf(error) === null) return true
  const severity = serverErrorOf(error)?.severity
  return severity === 'FATAL' || severity === 'PANIC' || isConnectionState(error)
}

/** The fault to throw for any error met while talking to PostgreSQL. */
export function faultOf(error: unknown, { commitSent }: Circumstance): LockstepError {
  if (error instanceof LockstepError) return error
  const sqlstate = sqlstateOf(error)
  const message = serverErrorOf(error)?.message ?? (error instanceof Error ? error.message : String(error))
  if (sqlstate === null) return withoutSqlstate(error, message, commitSent)
  const own = OWN_CODES.get(sqlstate)
  if (own !== undefined) return ownFault(error, own, sqlstate, message)
  if (isConnectionState(error)) {
    return commitSent && !isFarewell(error)
      ? outcomeUnknown(error)
      : fault('unavailable', `PostgreSQL closed the connection: ${message}`, error)
  }
  switch (sqlstate) {
    case '40001':
    case '40P01':
      return fault('busy', 'The transaction met a deadlock or a concurrent change and was rolled back.', error)
    case '55P03':
      return fault('busy', 'A lock was not had in time: another transaction holds the row.', error)
    case '57014':
      return fault('timeout', 'The statement took longer than its limit, or was cancelled.', error)
    case '3F000':
      return fault('schema_missing', 'The database has no lockstep schema: run `lockstep migrate`.', error)
    case '42883':
    case '42P01':
    case '42703':
      return fault(
        'schema_missing',
        `The lockstep schema is absent or older than this code: run \`lockstep migrate\`. (${message})`,
        error,
      )
    case '42501':
      return fault(
        'internal',
        `The database role lacks a right: run \`lockstep migrate --grant ROLE\`. (${message})`,
        error,
      )
    case '22021':
    case '22P05':
      return fault('bad_request', 'A text holds a character that PostgreSQL cannot store (NUL).', error)
    default:
      return fault('internal', 'PostgreSQL refused the statement; nothing was committed.', error)
  }
}

/** The fault for a COMMIT whose end was not seen. */
export function outcomeUnknown(cause: unknown): LockstepError {
  return fault(
    'outcome_unknown',
    'The connection was lost while committing; whether it was committed is unknown.',
    cause,
  )
}

/** The fault for a COMMIT that was answered with a rollback. */
export function notCommitted(tag: string): LockstepError {
  return new LockstepError(
    'failed_transaction',
    `COMMIT was answered ${tag}: a statement of the transaction had failed before. Nothing was committed.`,
    { tag },
  )
}

function withoutSqlstate(error: unknown, message: string, commitSent: boolean): LockstepError {
  if (commitSent) return outcomeUnknown(error)
  if (message === 'timeout exceeded when trying to connect') {
    return fault('overloaded', 'No connection of the pool came free in time.', error)
  }
  if (message.includes('calling end on the pool')) return fault('closed', 'The pool was closed.', error)
  const code = textOf(error, 'code')
  const network = (code !== null && NETWORK_CODES.has(code)) || /connection|not queryable|closed/i.test(message)
  if (network || error instanceof AggregateError) {
    return fault('unavailable', `PostgreSQL cannot be reached: ${message || (code ?? 'connection failed')}`, error)
  }
  return fault('internal', 'An unforeseen fault while talking to PostgreSQL; nothing was committed.', error)
}

function ownFault(error: unknown, code: ErrorCode, sqlstate: string, message: string): LockstepError {
  // The functions put the code's own name into detail, so that one SQLSTATE may serve finer codes.
  const server = serverErrorOf(error)
  const named = server?.detail ?? null
  const exact = named !== null && isErrorCode(named) ? named : code
  const hint = server?.hint ?? null
  if (hint === null) return new LockstepError(exact, message, { sqlstate }, error)
  // One word names the part that was wrong; more are advice, for whoever reads the message.
  if (/^[a-z_]+$/.test(hint)) return new LockstepError(exact, message, { sqlstate, reason: hint }, error)
  return new LockstepError(exact, `${message}: ${hint}`, { sqlstate }, error)
}

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(ERRORS, name)
}

/** Class 08, a server that ends or starts, too many connections, no disk or memory, a refused login, a standby. */
function isConnectionState(error: unknown): boolean {
  const sqlstate = sqlstateOf(error) ?? ''
  return (
    /^(?:08|28|53)/.test(sqlstate) ||
    sqlstate.startsWith('57P') ||
    ['3D000', '25P03', '25P04', '58000', '58030'].includes(sqlstate)
  )
}

function fault(code: ErrorCode, message: string, cause: unknown): LockstepError {
  const sqlstate = sqlstateOf(cause)
  return new LockstepError(code, message, sqlstate === null ? {} : { sqlstate }, cause)
}

function textOf(error: unknown, field: string): string | null {
  if (typeof error !== 'object' || error === null) return null
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' ? value : null
}
