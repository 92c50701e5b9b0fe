// The one table of faults. Expected outcomes (a lost version, a lapsed lease, a duplicate) are values and are not here.
// Code, HTTP status, retry meaning and SQLSTATE are a contract: docs/reference/errors.md is generated from this table.

/** never: the same call fails again. safe: nothing was changed, call again now. later: call again after a pause. */
export type Retry = 'never' | 'safe' | 'later'

export interface ErrorRow {
  readonly status: number
  readonly retry: Retry
  /** Own SQLSTATE class LS, raised by functions in sql/; null when SQL never raises it. */
  readonly sqlstate: string | null
  readonly meaning: string
}

export const ERRORS = {
  bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS400',
    meaning:
      'A field is missing, of the wrong type or out of range; the message names it and says what would be right.',
  },
  name_too_long: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS401',
    meaning: 'A name is longer than the limit of its kind.',
  },
  kv_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS402',
    meaning: 'A key/value operation has a wrong shape; reason says which part.',
  },
  kv_duplicate_key_in_call: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS403',
    meaning: 'One key is written twice in one call.',
  },
  timers_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS430',
    meaning: 'A timer operation has a wrong shape; reason says which part.',
  },
  timer_horizon_exceeded: {
    status: 403,
    retry: 'never',
    sqlstate: 'LS431',
    meaning: 'A timer was to fire later than 90 days from now.',
  },
  locks_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS432',
    meaning: 'A lock operation has a wrong shape; reason says which part.',
  },
  not_available: {
    status: 400,
    retry: 'never',
    sqlstate: null,
    meaning: 'This build does not serve the part that was asked for.',
  },
  unauthorized: { status: 401, retry: 'never', sqlstate: null, meaning: 'No valid token.' },
  forbidden: { status: 403, retry: 'never', sqlstate: null, meaning: 'The token does not allow this route.' },
  not_found: { status: 404, retry: 'never', sqlstate: 'LS404', meaning: 'The named thing does not exist.' },
  no_such_route: { status: 404, retry: 'never', sqlstate: null, meaning: 'No route has this path.' },
  method_not_allowed: {
    status: 405,
    retry: 'never',
    sqlstate: null,
    meaning: 'The route exists, with another method.',
  },
  request_conflict: {
    status: 409,
    retry: 'never',
    sqlstate: 'LS409',
    meaning: 'This request id was used with another body within 24 hours.',
  },
  payload_too_large: {
    status: 413,
    retry: 'never',
    sqlstate: 'LS413',
    meaning: 'A body, payload or value is larger than its limit.',
  },
  unsupported_media_type: {
    status: 415,
    retry: 'never',
    sqlstate: null,
    meaning: 'The body must be application/json.',
  },
  overloaded: {
    status: 429,
    retry: 'later',
    sqlstate: null,
    meaning: 'A bound on work in flight is reached; Retry-After says when to come back.',
  },
  internal: {
    status: 500,
    retry: 'safe',
    sqlstate: null,
    meaning: 'An unforeseen fault; the log has it under the request id. Nothing was committed.',
  },
  unavailable: {
    status: 503,
    retry: 'later',
    sqlstate: null,
    meaning: 'PostgreSQL cannot be reached or is starting. Nothing was committed.',
  },
  busy: {
    status: 503,
    retry: 'later',
    sqlstate: null,
    meaning: 'A lock was not had in time: an open transaction of a user holds the row. Nothing was committed.',
  },
  timeout: {
    status: 503,
    retry: 'later',
    sqlstate: null,
    meaning: 'The statement took longer than its limit. Nothing was committed.',
  },
  outcome_unknown: {
    status: 503,
    retry: 'later',
    sqlstate: null,
    meaning: 'The connection was lost while committing; repeat with the same request id to learn the outcome.',
  },
  draining: {
    status: 503,
    retry: 'later',
    sqlstate: null,
    meaning: 'This broker is shutting down; another serves the request.',
  },
  isolation_not_supported: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS425',
    meaning: 'This verb takes locks and needs READ COMMITTED.',
  },
  read_only_transaction: { status: 400, retry: 'never', sqlstate: '25006', meaning: 'The transaction is read-only.' },
  failed_transaction: {
    status: 400,
    retry: 'never',
    sqlstate: '25P02',
    meaning: 'A statement failed before in this transaction; roll it back.',
  },
  not_a_transaction: {
    status: 400,
    retry: 'never',
    sqlstate: null,
    meaning: 'in(tx) needs an open transaction: a client after BEGIN, not a pool or an idle client.',
  },
  schema_outdated: {
    status: 503,
    retry: 'never',
    sqlstate: null,
    meaning: 'The database is older than this code: run `lockstep migrate`.',
  },
  schema_newer: {
    status: 503,
    retry: 'never',
    sqlstate: null,
    meaning: 'The database is newer than this code can serve: upgrade the package.',
  },
  schema_missing: {
    status: 503,
    retry: 'never',
    sqlstate: null,
    meaning: 'The database has no lockstep schema: run `lockstep migrate`.',
  },
  encryption_required: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS426',
    meaning: 'The queue is encrypted and this process has no keys: push through a broker or a client that has them.',
  },
  encryption_key_missing: {
    status: 503,
    retry: 'later',
    sqlstate: 'LS427',
    meaning: 'A payload is sealed with a key that this process does not have. Nothing was leased or lost.',
  },
  payload_tampered: {
    status: 500,
    retry: 'never',
    sqlstate: null,
    meaning: 'A sealed payload was changed, or moved to another place than it was sealed for.',
  },
  unserializable: {
    status: 400,
    retry: 'never',
    sqlstate: null,
    meaning:
      'A value cannot be JSON without change (BigInt, NaN, Infinity, undefined, function, cycle); the path names it.',
  },
  invalid_payload: {
    status: 400,
    retry: 'never',
    sqlstate: null,
    meaning: 'The queue schema refuses the value; details carry its issues.',
  },
  rolled_back: {
    status: 200,
    retry: 'never',
    sqlstate: null,
    meaning:
      'Only thrown by commit({ orThrow: true }): the transaction was judged and rolled back; details carry the answer.',
  },
  embedded_failed: {
    status: 500,
    retry: 'never',
    sqlstate: null,
    meaning:
      'The embedded PostgreSQL could not be started or stopped; the message says what was seen and what to do about it.',
  },
  lease_lost: {
    status: 409,
    retry: 'never',
    sqlstate: 'LS423',
    meaning: 'The lease of this step has lapsed or was taken over; nothing of it was committed.',
  },
  lock_lost: {
    status: 409,
    retry: 'never',
    sqlstate: null,
    meaning: 'The lock ran out or was taken over while it was needed; what carried its guard was not committed.',
  },
  lock_held: {
    status: 409,
    retry: 'later',
    sqlstate: null,
    meaning: 'Thrown by withLock and withPermit: others held the lock for as long as the call was ready to wait.',
  },
  run_not_found: {
    status: 404,
    retry: 'never',
    sqlstate: null,
    meaning:
      'There is no such run: its transaction is still open (uncommitted), was rolled back, or it is unknown; reason says which.',
  },
  ephemeral_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: null,
    meaning: 'A field of a call to an ephemeral queue is missing or out of range; the message names it.',
  },
  ephemeral_queue_not_found: {
    status: 404,
    retry: 'never',
    sqlstate: null,
    meaning: 'This broker holds no ephemeral queue of this name, and none is declared.',
  },
  queue_full: {
    status: 429,
    retry: 'later',
    sqlstate: null,
    meaning: 'The ephemeral queue is at its maxBytes or maxLength and its policy is reject. Nothing was stored.',
  },
  ephemeral_full: {
    status: 503,
    retry: 'later',
    sqlstate: null,
    meaning: 'The ephemeral queues of this broker together are at their bound. Nothing was stored.',
  },
  stream_conflict: {
    status: 409,
    retry: 'never',
    sqlstate: null,
    meaning:
      'A stream is registered under this name with another configuration; register it with reset to drop its state.',
  },
  run_conflict: {
    status: 409,
    retry: 'never',
    sqlstate: null,
    meaning: 'The run key is known with another input, or was to be refused when known; nothing was submitted.',
  },
  run_failed: {
    status: 409,
    retry: 'never',
    sqlstate: null,
    meaning: 'Thrown by result(): the run failed; cause is the error of the step that failed it.',
  },
  run_cancelled: {
    status: 409,
    retry: 'never',
    sqlstate: null,
    meaning: 'Thrown by result(): the run was cancelled.',
  },
  wait_timeout: {
    status: 408,
    retry: 'later',
    sqlstate: null,
    meaning: 'The run had not ended within the time that the wait was given; it goes on.',
  },
  step_failed: {
    status: 500,
    retry: 'never',
    sqlstate: null,
    meaning: 'An action or child workflow that code called has failed for good; cause is its error.',
  },
  step_key_required: {
    status: 400,
    retry: 'never',
    sqlstate: null,
    meaning: 'A step name was used again while a step of that name is in flight: give each a key.',
  },
  closed: { status: 503, retry: 'never', sqlstate: null, meaning: 'The client was closed.' },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** The one fault that Lockstep throws. `code` is stable, `retry` says what a caller may do, `details` names the field. */
export class LockstepError extends Error {
  override readonly name: string = 'LockstepError'
  readonly code: ErrorCode
  readonly retry: Retry
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retry = ERRORS[code].retry
    this.status = ERRORS[code].status
    this.details = details
  }
}
