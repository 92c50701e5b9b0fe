// How tokens are checked: one source of keys, the algorithms it may be used with, the rules for claims and roles. A choice that
// would weaken the check (two sources, a public key as a shared secret, a private key where a public one belongs, keys over
// plain HTTP) is refused at the start, and no message repeats a secret.
import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { allowedAlgorithms, algorithmsOfKey, PUBLIC_ALGORITHMS, SECRET_ALGORITHMS } from './algorithms.ts'
import type { Algorithm } from './algorithms.ts'
import type { ClaimRules } from './judge-claims.ts'
import { ROLES } from './roles.ts'
import type { Role, RoleRules } from './roles.ts'

/** Exactly one of secret, publicKey and jwksUrl. */
export interface AuthOptions {
  /** Shared with the issuer; HS256, HS384, HS512. */
  readonly secret?: string | undefined
  /** PEM of a public key or certificate. */
  readonly publicKey?: string | undefined
  /** Where the issuer publishes its keys; they are found by `kid`. */
  readonly jwksUrl?: string | undefined
  /** `auto` (default), or names separated by commas. */
  readonly algorithm?: string | undefined
  readonly issuer?: string | undefined
  /** One of these must be in the token's `aud`. */
  readonly audience?: readonly string[] | undefined
  /** Default 30. */
  readonly clockSkewSeconds?: number | undefined
  /** Refuse tokens that never expire; default false, as the wire says. */
  readonly requireExpiry?: boolean | undefined
  /** Default `role`. */
  readonly roleClaim?: string | undefined
  /** Default `roles`. */
  readonly rolesClaim?: string | undefined
  /** What the issuer calls a role, where that is another name than ours. */
  readonly roleNames?: Partial<Readonly<Record<Role, string>>> | undefined
}

export type KeySettings =
  | { readonly kind: 'secret'; readonly secret: Uint8Array }
  | { readonly kind: 'public'; readonly key: KeyObject }
  | { readonly kind: 'jwks'; readonly url: URL }

export interface AuthRules extends ClaimRules, RoleRules {
  readonly keys: KeySettings
  readonly algorithms: readonly Algorithm[]
}

const wrong = (field: string, right: string): LockstepError =>
  new LockstepError('bad_request', `setting ${field} must be ${right}`, { field })

export function authRules(options: AuthOptions): AuthRules {
  const { keys, possible } = keySettings(options)
  const skew = options.clockSkewSeconds ?? LIMITS.clockSkewSecondsDefault
  if (!Number.isSafeInteger(skew) || skew < 0 || skew > LIMITS.clockSkewSeconds) {
    throw wrong('JWT_CLOCK_SKEW', `an integer from 0 to ${LIMITS.clockSkewSeconds}`)
  }
  const names = { admin: 'admin', 'read-write': 'read-write', 'read-only': 'read-only', 'write-only': 'write-only' }
  for (const role of ROLES) names[role] = options.roleNames?.[role] ?? role
  if (new Set(Object.values(names)).size < ROLES.length) throw wrong('JWT_ROLE_…', 'another name for each role')
  return {
    keys,
    algorithms: allowedAlgorithms(options.algorithm ?? 'auto', possible),
    issuer: options.issuer ?? null,
    audience: options.audience ?? [],
    clockSkewSeconds: skew,
    requireExpiry: options.requireExpiry ?? false,
    roleClaim: options.roleClaim ?? 'role',
    rolesClaim: options.rolesClaim ?? 'roles',
    names,
  }
}

function keySettings(options: AuthOptions): { readonly keys: KeySettings; readonly possible: readonly Algorithm[] } {
  const { secret, publicKey, jwksUrl } = options
  const given = [secret, publicKey, jwksUrl].filter((each) => each !== undefined)
  if (given.length !== 1) {
    throw new LockstepError('bad_request', 'name exactly one of JWT_SECRET, JWT_PUBLIC_KEY and JWT_JWKS_URL', {
      field: 'JWT_SECRET',
    })
  }
  if (secret !== undefined)
    return { keys: { kind: 'secret', secret: secretBytes(secret) }, possible: SECRET_ALGORITHMS }
  if (publicKey !== undefined) {
    const key = publicKeyOf(publicKey)
    return { keys: { kind: 'public', key }, possible: algorithmsOfKey(key) }
  }
  return { keys: { kind: 'jwks', url: jwksAddress(jwksUrl ?? '') }, possible: PUBLIC_ALGORITHMS }
}

function secretBytes(secret: string): Uint8Array {
  if (secret.includes('-----BEGIN')) {
    throw wrong('JWT_SECRET', 'a secret shared with the issuer, not a PEM: a public key belongs in JWT_PUBLIC_KEY')
  }
  if (secret.length < LIMITS.secretBytesLeast) {
    throw wrong('JWT_SECRET', `at least ${LIMITS.secretBytesLeast} bytes, better 32 random ones`)
  }
  return new TextEncoder().encode(secret)
}

function publicKeyOf(pem: string): KeyObject {
  // Node would quietly derive the public half, and the private one would lie on every broker.
  if (/-----BEGIN [A-Z ]*PRIVATE KEY/.test(pem))
    throw wrong('JWT_PUBLIC_KEY', 'the public key only, not the private one')
  try {
    return createPublicKey(pem)
  } catch {
    throw wrong('JWT_PUBLIC_KEY', 'the PEM of a public key or of a certificate')
  }
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|\[::1\]|localhost)$/

function jwksAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  if (url === null || !safe || url.username !== '' || url.password !== '') {
    throw wrong('JWT_JWKS_URL', 'an https:// address without credentials: who can change its answer can make tokens')
  }
  return url
}
