// The fault that an answer of 4xx or 5xx means: by its stable code where the broker gave one, else by its status.
import { ERRORS, LockstepError, type ErrorCode } from '../../protocol/errors.ts'

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  409: 'request_conflict',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'overloaded',
  503: 'unavailable',
}

function isCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value)
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { ...body } : {}
  } catch {
    return {}
  }
}

export function faultOfAnswer(answer: { readonly status: number; readonly text: string }): LockstepError {
  const { error, code, ...rest } = bodyOf(answer.text)
  const byStatus = BY_STATUS[answer.status] ?? (answer.status >= 500 ? 'internal' : 'bad_request')
  // The key/value routes put their code where others put the text.
  const found = [code, error].find(isCode) ?? byStatus
  const detail = rest['detail']
  const message =
    isCode(error) && typeof detail === 'string'
      ? detail
      : typeof error === 'string'
        ? error
        : answer.text.slice(0, 500) || `the broker answered ${answer.status}`
  return new LockstepError(found, message, { ...rest, status: answer.status })
}
