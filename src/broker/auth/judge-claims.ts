// What a token says about itself, judged at an instant: its times, its issuer, its audience, its subject. Pure; a token whose
// signature was checked before is judged again by this on every request. The texts are the wire's.
import { isRecord } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { utf8Length } from '../../protocol/utf8.ts'

export interface ClaimRules {
  readonly issuer: string | null
  /** The token must name at least one of them; empty: it is not looked at. */
  readonly audience: readonly string[]
  readonly clockSkewSeconds: number
  readonly requireExpiry: boolean
}

export type Claims = Readonly<Record<string, unknown>>

export const unauthorized = (text: string): LockstepError => new LockstepError('unauthorized', text)

/** The claims of a payload whose signature holds. */
export function readClaims(payload: Uint8Array): Claims {
  let claims: unknown
  try {
    claims = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
  } catch {
    throw unauthorized('Bad token claims')
  }
  if (!isRecord(claims)) throw unauthorized('Bad token claims')
  return claims
}

export function judgeClaims(claims: Claims, rules: ClaimRules, nowSeconds: number): void {
  const expires = instant(claims, 'exp')
  const begins = instant(claims, 'nbf')
  const issued = instant(claims, 'iat')
  const skew = rules.clockSkewSeconds
  if (expires === null ? rules.requireExpiry : expires <= nowSeconds - skew) throw unauthorized('Token has expired')
  if (begins !== null && begins > nowSeconds + skew) throw unauthorized('Token not yet valid')
  if (issued !== null && issued > nowSeconds + skew) throw unauthorized('Token issued in the future')
  if (rules.issuer !== null && own(claims, 'iss') !== rules.issuer) throw unauthorized('Invalid token issuer')
  if (rules.audience.length > 0 && !names(own(claims, 'aud'), rules.audience))
    throw unauthorized('Invalid token audience')
}

/** Stored with what it pushes, so it must be a text that a column can hold; null when the token names nobody. */
export function subjectOf(claims: Claims): string | null {
  const subject = own(claims, 'sub')
  if (subject === undefined || subject === null) return null
  if (typeof subject !== 'string' || subject.includes('\0')) throw unauthorized('Invalid token subject')
  const bytes = utf8Length(subject)
  if (bytes < 0 || bytes > LIMITS.subjectBytes) throw unauthorized('Invalid token subject')
  return subject
}

const own = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)

function instant(claims: Claims, name: string): number | null {
  const value = own(claims, name)
  if (value === undefined || value === null) return null
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unauthorized('Bad token claims')
  return value
}

function names(given: unknown, wanted: readonly string[]): boolean {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  return list.some((each) => typeof each === 'string' && wanted.includes(each))
}
