// Writes answers: one writeHead, one end. A 204 has neither body nor content-length. Faults keep the wire's shape,
// {"error", "code"}, and say when to come back; what was unforeseen is told to the log and not to the client.
import type { ServerResponse } from 'node:http'
import { LockstepError } from '../../protocol/errors.ts'
import type { Answer } from './route.ts'

const RETRY_AFTER_SECONDS = '1'

/** The bytes of the body. */
export function respond(response: ServerResponse, answer: Answer, requestId: string): number {
  const { body, headers } = answer
  if (body === null) {
    response.writeHead(answer.status, ['x-request-id', requestId, ...(headers ?? [])])
    response.end()
    return 0
  }
  const bytes = Buffer.byteLength(body)
  const head = [
    'content-type',
    answer.type ?? 'application/json',
    'content-length',
    String(bytes),
    'x-content-type-options',
    'nosniff',
    'cache-control',
    'no-store',
    'x-request-id',
    requestId,
  ]
  if (headers) head.push(...headers)
  response.writeHead(answer.status, head)
  response.end(body)
  return bytes
}

/** An error of any kind as the fault to tell. */
export function faultFor(error: unknown): LockstepError {
  if (error instanceof LockstepError) return error
  return new LockstepError('internal', 'an unforeseen fault; the log has it under the request id', {}, error)
}

export function faultAnswer(fault: LockstepError): Answer {
  return { status: fault.status, body: JSON.stringify(faultBody(fault)), headers: headersFor(fault.status) }
}

function headersFor(status: number): readonly string[] {
  if (status === 503 || status === 429) return ['retry-after', RETRY_AFTER_SECONDS]
  return status === 401 ? ['www-authenticate', 'Bearer'] : []
}

const OWN_ERRORS: ReadonlySet<string> = new Set(['payload_too_large', 'timer_horizon_exceeded'])

/** Faults of key/value, locks and timers name the code as the error and the part in `reason`, as their clients expect. */
function faultBody(fault: LockstepError): Readonly<Record<string, unknown>> {
  const { reason } = fault.details
  const kind = typeof reason === 'string' ? /^(kv|locks|timers)_/.exec(reason)?.[1] : undefined
  if (kind !== undefined) {
    const error = OWN_ERRORS.has(fault.code) ? fault.code : `${kind}_bad_request`
    return { error, code: fault.code, reason, detail: fault.message }
  }
  // Why a run is missing decides what its caller does next.
  if (fault.code === 'run_not_found') return { error: fault.message, code: fault.code, reason }
  return { error: fault.message, code: fault.code }
}
