// One HTTP exchange with the broker, repeated by the wire's client policy: 4xx never, except 429; 5xx and network faults
// three times in all, and only when the call says that arriving twice is harmless. Every fault leaves as a LockstepError.
import type { Addresses } from './addresses.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { pause } from '../../protocol/pause.ts'
import { faultOfAnswer } from './answer-fault.ts'
import { pauseBefore } from '../retry-pause.ts'
import type { Token } from './token.ts'

export interface HttpSettings {
  /** Of the brokers, each without a slash at the end. */
  readonly addresses: Addresses
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Null: requests carry none. */
  readonly token: Token | null
}

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Begins with a slash; names in it are percent-encoded. */
  readonly path: string
  readonly body?: string
  /** Arriving twice changes nothing more than arriving once. */
  readonly repeatable: boolean
  /** A long poll is tried for ever while the broker says 429, and its answer may take this much longer. */
  readonly parkedMs?: number
  /** Calls with the same one go to the same of several brokers while that is well. */
  readonly affinity?: string
  readonly signal?: AbortSignal
}

export interface HttpAnswer {
  readonly status: number
  readonly text: string
}

function headersOf(settings: HttpSettings, call: HttpCall, bearer: string | null): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json', ...settings.headers }
  if (bearer !== null) headers['authorization'] = `Bearer ${bearer}`
  if (call.body !== undefined) headers['content-type'] = 'application/json'
  return headers
}

/** True when the request certainly never reached a broker. */
function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code: unknown = Reflect.get(error, 'code')
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return true
  if (error instanceof AggregateError) return error.errors.every(neverSent)
  return neverSent(error.cause)
}

function networkFault(error: unknown, call: HttpCall, timedOut: boolean): LockstepError {
  const why = timedOut ? 'no answer in time' : error instanceof Error ? causeText(error) : String(error)
  if (call.repeatable || neverSent(error)) {
    return new LockstepError('unavailable', `the broker cannot be reached: ${why}`, { path: call.path }, error)
  }
  return new LockstepError(
    'outcome_unknown',
    `the connection was lost before the answer to ${call.method} ${call.path}: ${why}`,
    { path: call.path },
    error,
  )
}

function causeText(error: Error): string {
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}

async function exchange(
  settings: HttpSettings,
  call: HttpCall,
  signal: AbortSignal,
  bearer: string | null,
  base: string,
): Promise<HttpAnswer & { readonly retryAfter: string | null }> {
  const response = await fetch(`${base}${call.path}`, {
    method: call.method,
    headers: headersOf(settings, call, bearer),
    signal,
    ...(call.body === undefined ? {} : { body: call.body }),
  })
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') }
}

/** A 2xx answer, or a LockstepError. An aborted signal rejects with its reason. */
export async function httpCall(settings: HttpSettings, call: HttpCall): Promise<HttpAnswer> {
  const allowedMs = settings.timeoutMs + (call.parkedMs ?? 0)
  const { addresses } = settings
  const tried = new Set<string>()
  let renewed = false
  for (let attempt = 1; ; attempt += 1) {
    call.signal?.throwIfAborted()
    const bearer = settings.token === null ? null : await settings.token.get()
    const deadline = AbortSignal.timeout(allowedMs)
    const signal = call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal])
    const base = addresses.choose(call.affinity ?? null, tried)
    let fault: LockstepError
    let answered: { readonly status: number; readonly retryAfter: string | null } | null = null
    try {
      const answer = await exchange(settings, call, signal, bearer, base)
      if (answer.status < 500) addresses.answered(base)
      if (answer.status >= 200 && answer.status < 300) return answer
      if (answer.status === 401 && !renewed && bearer !== null && settings.token?.drop(bearer)) {
        // It was refused at the door and did nothing; a newer token may pass.
        renewed = true
        attempt -= 1
        continue
      }
      answered = answer
      fault = faultOfAnswer(answer)
    } catch (error) {
      call.signal?.throwIfAborted()
      fault = networkFault(error, call, deadline.aborted)
    }
    const pauseMs = pauseBefore(attempt + 1, fault, answered, {
      repeatable: call.repeatable,
      parked: call.parkedMs !== undefined,
    })
    if (pauseMs === null) throw fault
    if (answered === null || answered.status >= 500) {
      addresses.failed(base)
      tried.add(base)
      // Another broker may be well: it is asked at once, and this attempt does not count.
      if (tried.size < addresses.count) {
        attempt -= 1
        continue
      }
      tried.clear()
    }
    await pause(pauseMs, call.signal)
  }
}
