// How long a key lives: exactly one of ttl ('30d'), ttlSeconds or forever, said on every write. Nothing is rounded and no
// unit is guessed: what is not whole seconds is refused.
import { durationSeconds } from '../protocol/durations.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'

/** A whole number and a unit: ms, s, m, h or d. */
export type Ttl = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

export type Expiry =
  | { readonly ttl: Ttl; readonly ttlSeconds?: never; readonly forever?: never }
  | { readonly ttlSeconds: number; readonly ttl?: never; readonly forever?: never }
  | { readonly forever: true; readonly ttl?: never; readonly ttlSeconds?: never }

function refuse(message: string): never {
  throw new LockstepError('kv_bad_request', message, { reason: 'kv_bad_ttl' })
}

/** Seconds to live, or null for ever. */
export function expirySeconds(expiry: Expiry): number | null {
  const { ttl, ttlSeconds, forever }: Partial<Record<keyof Expiry, unknown>> = expiry ?? {}
  if ([ttl, ttlSeconds, forever].filter((said) => said !== undefined).length !== 1) {
    throw new LockstepError('kv_bad_request', 'say exactly one of ttl, ttlSeconds and forever: true', {
      reason: 'kv_expiry_not_specified',
    })
  }
  if (forever !== undefined) return forever === true ? null : refuse('forever must be true, or left out')
  if (ttl !== undefined && typeof ttl !== 'string') return refuse("ttl must be text such as '30d'")
  const seconds = ttl === undefined ? ttlSeconds : durationSeconds(ttl, 'ttl')
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 1 || seconds > LIMITS.ttlSeconds) {
    return refuse(`a key lives for 1 to ${LIMITS.ttlSeconds} whole seconds; got ${JSON.stringify(seconds)}`)
  }
  return seconds
}
