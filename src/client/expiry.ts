// How long a key lives: exactly one of ttl ('30d'), ttlSeconds or forever, said on every write. Nothing is rounded and no
// unit is guessed: what is not whole seconds is refused.
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'

/** A whole number and a unit: ms, s, m, h or d. */
export type Ttl = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

export type Expiry =
  | { readonly ttl: Ttl; readonly ttlSeconds?: never; readonly forever?: never }
  | { readonly ttlSeconds: number; readonly ttl?: never; readonly forever?: never }
  | { readonly forever: true; readonly ttl?: never; readonly ttlSeconds?: never }

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function refuse(message: string): never {
  throw new LockstepError('kv_bad_request', message, { reason: 'kv_bad_ttl' })
}

function secondsOf(ttl: unknown): number {
  const match = typeof ttl === 'string' ? /^(\d+)(ms|s|m|h|d)$/.exec(ttl) : null
  const unit = UNIT_MS[match?.[2] ?? '']
  if (match === null || unit === undefined) {
    return refuse(`ttl must be a whole number and one of ms, s, m, h, d, such as '30d'; got ${JSON.stringify(ttl)}`)
  }
  const seconds = (Number(match[1]) * unit) / 1_000
  if (!Number.isInteger(seconds)) refuse(`ttl must come to whole seconds; got '${ttl}'`)
  return seconds
}

/** Seconds to live, or null for ever. */
export function expirySeconds(expiry: Expiry): number | null {
  const { ttl, ttlSeconds, forever } = expiry ?? {}
  const said = [ttl, ttlSeconds, forever].filter((value) => value !== undefined)
  if (said.length !== 1) {
    throw new LockstepError('kv_bad_request', 'say exactly one of ttl, ttlSeconds and forever: true', {
      reason: 'kv_expiry_not_specified',
    })
  }
  if (forever !== undefined) return forever === true ? null : refuse('forever must be true, or left out')
  const seconds = ttl === undefined ? ttlSeconds : secondsOf(ttl)
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 1 || seconds > LIMITS.ttlSeconds) {
    return refuse(`a key lives for 1 to ${LIMITS.ttlSeconds} whole seconds; got ${String(seconds)}`)
  }
  return seconds
}
