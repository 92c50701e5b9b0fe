// The one table of faults. Expected outcomes (a lost version, a lapsed lease, a duplicate) are values and are not here.
// Code, HTTP status, retry meaning and SQLSTATE are a contract: docs/reference/errors.md is generated from this table and
// its meanings (error-meanings.ts).

/** never: the same call fails again. safe: nothing was changed, call again now. later: call again after a pause. */
export type Retry = 'never' | 'safe' | 'later'

export interface ErrorRow {
  readonly status: number
  readonly retry: Retry
  /** Own SQLSTATE class LS, raised by functions in sql/; null when SQL never raises it. */
  readonly sqlstate: string | null
}

export const ERRORS = {
  bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS400',
  },
  name_too_long: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS401',
  },
  kv_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS402',
  },
  kv_duplicate_key_in_call: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS403',
  },
  timers_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS430',
  },
  timer_horizon_exceeded: {
    status: 403,
    retry: 'never',
    sqlstate: 'LS431',
  },
  locks_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS432',
  },
  not_available: {
    status: 400,
    retry: 'never',
    sqlstate: null,
  },
  unauthorized: { status: 401, retry: 'never', sqlstate: null },
  forbidden: { status: 403, retry: 'never', sqlstate: null },
  not_found: { status: 404, retry: 'never', sqlstate: 'LS404' },
  no_such_route: { status: 404, retry: 'never', sqlstate: null },
  method_not_allowed: {
    status: 405,
    retry: 'never',
    sqlstate: null,
  },
  request_conflict: {
    status: 409,
    retry: 'never',
    sqlstate: 'LS409',
  },
  payload_too_large: {
    status: 413,
    retry: 'never',
    sqlstate: 'LS413',
  },
  unsupported_media_type: {
    status: 415,
    retry: 'never',
    sqlstate: null,
  },
  overloaded: {
    status: 429,
    retry: 'later',
    sqlstate: null,
  },
  internal: {
    status: 500,
    retry: 'safe',
    sqlstate: null,
  },
  unavailable: {
    status: 503,
    retry: 'later',
    sqlstate: null,
  },
  busy: {
    status: 503,
    retry: 'later',
    sqlstate: null,
  },
  timeout: {
    status: 503,
    retry: 'later',
    sqlstate: null,
  },
  outcome_unknown: {
    status: 503,
    retry: 'later',
    sqlstate: null,
  },
  draining: {
    status: 503,
    retry: 'later',
    sqlstate: null,
  },
  isolation_not_supported: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS425',
  },
  read_only_transaction: { status: 400, retry: 'never', sqlstate: '25006' },
  failed_transaction: {
    status: 400,
    retry: 'never',
    sqlstate: '25P02',
  },
  not_a_transaction: {
    status: 400,
    retry: 'never',
    sqlstate: null,
  },
  schema_outdated: {
    status: 503,
    retry: 'never',
    sqlstate: null,
  },
  schema_newer: {
    status: 503,
    retry: 'never',
    sqlstate: null,
  },
  schema_missing: {
    status: 503,
    retry: 'never',
    sqlstate: null,
  },
  encryption_required: {
    status: 400,
    retry: 'never',
    sqlstate: 'LS426',
  },
  encryption_key_missing: {
    status: 503,
    retry: 'later',
    sqlstate: 'LS427',
  },
  payload_tampered: {
    status: 500,
    retry: 'never',
    sqlstate: null,
  },
  unserializable: {
    status: 400,
    retry: 'never',
    sqlstate: null,
  },
  invalid_payload: {
    status: 400,
    retry: 'never',
    sqlstate: null,
  },
  rolled_back: {
    status: 200,
    retry: 'never',
    sqlstate: null,
  },
  embedded_failed: {
    status: 500,
    retry: 'never',
    sqlstate: null,
  },
  lease_lost: {
    status: 409,
    retry: 'never',
    sqlstate: 'LS423',
  },
  lock_lost: {
    status: 409,
    retry: 'never',
    sqlstate: null,
  },
  lock_held: {
    status: 409,
    retry: 'later',
    sqlstate: null,
  },
  run_not_found: {
    status: 404,
    retry: 'never',
    sqlstate: null,
  },
  ephemeral_bad_request: {
    status: 400,
    retry: 'never',
    sqlstate: null,
  },
  ephemeral_queue_not_found: {
    status: 404,
    retry: 'never',
    sqlstate: null,
  },
  queue_full: {
    status: 429,
    retry: 'later',
    sqlstate: null,
  },
  ephemeral_full: {
    status: 503,
    retry: 'later',
    sqlstate: null,
  },
  stream_conflict: {
    status: 409,
    retry: 'never',
    sqlstate: null,
  },
  run_conflict: {
    status: 409,
    retry: 'never',
    sqlstate: null,
  },
  run_failed: {
    status: 409,
    retry: 'never',
    sqlstate: null,
  },
  run_cancelled: {
    status: 409,
    retry: 'never',
    sqlstate: null,
  },
  wait_timeout: {
    status: 408,
    retry: 'later',
    sqlstate: null,
  },
  step_failed: {
    status: 500,
    retry: 'never',
    sqlstate: null,
  },
  step_key_required: {
    status: 400,
    retry: 'never',
    sqlstate: null,
  },
  closed: { status: 503, retry: 'never', sqlstate: null },
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
