// Who sends a request: the bearer token of its header, its signature checked once and remembered by its hash, its claims judged
// on every request. It answers an identity or throws the wire's 401; it never logs or repeats a token.
import { createHash } from 'node:crypto'
import { compactVerify, decodeProtectedHeader, errors } from 'jose'
import type { CompactJWSHeaderParameters } from 'jose'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { authRules } from './auth-options.ts'
import type { AuthOptions } from './auth-options.ts'
import { judgeClaims, readClaims, subjectOf, unauthorized } from './judge-claims.ts'
import type { Claims } from './judge-claims.ts'
import { createJwks } from './jwks.ts'
import { rolesOf } from './roles.ts'
import type { Role } from './roles.ts'

export interface Identity {
  /** The token's subject: stored with what it pushes, and in the audit. */
  readonly sub: string | null
  readonly roles: readonly Role[]
}

export interface Authenticator {
  /** A token seen before is answered at once. Throws or rejects with `unauthorized`, or `unavailable` without keys. */
  identify(authorization: string | undefined): Identity | Promise<Identity>
}

interface Remembered {
  readonly identity: Identity
  readonly claims: Claims
  readonly generation: number
}

export interface AuthenticatorSettings {
  readonly onFault?: (message: string) => void
  /** Seconds since 1970; tests move them. */
  readonly now?: () => number
}

const BEARER = /^Bearer +([^ ]+) *$/i

export function createAuthenticator(options: AuthOptions, settings: AuthenticatorSettings = {}): Authenticator {
  const { onFault = () => {}, now = () => Date.now() / 1000 } = settings
  const rules = authRules(options)
  const { keys } = rules
  const jwks = keys.kind === 'jwks' ? createJwks({ url: keys.url, onFault }) : null
  const remembered = new Map<string, Remembered>()

  async function verify(token: string, hash: string): Promise<Identity> {
    const header = readHeader(token)
    const allowed = rules.algorithms.find((name) => name === header.alg)
    if (allowed === undefined) throw unauthorized('Unsupported token algorithm')
    const key = jwks
      ? await jwks.find(header)
      : keys.kind === 'secret'
        ? keys.secret
        : keys.kind === 'public'
          ? keys.key
          : null
    if (key === null) throw unauthorized('Unknown key ID')
    const generation = jwks?.generation ?? 0
    const { payload } = await compactVerify(token, key, { algorithms: [allowed] }).catch((error: unknown) => {
      throw refusalOf(error)
    })
    const claims = readClaims(payload)
    judgeClaims(claims, rules, now())
    const identity = { sub: subjectOf(claims), roles: rolesOf(claims, rules) }
    remember(hash, { identity, claims, generation })
    return identity
  }

  function remember(hash: string, entry: Remembered): void {
    if (remembered.size >= LIMITS.rememberedTokens) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    remembered.set(hash, entry)
  }

  return {
    identify(authorization) {
      const token = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
      if (token === undefined) throw unauthorized('Authentication required')
      if (token.length > LIMITS.tokenBytes) throw unauthorized('Bad token header')
      // By its hash: a look-up by the token itself would compare its bytes with those of others.
      const hash = createHash('sha256').update(token).digest('base64')
      const known = remembered.get(hash)
      const isCurrent = jwks === null || (jwks.tend() && known?.generation === jwks.generation)
      if (known === undefined || !isCurrent) return verify(token, hash)
      try {
        judgeClaims(known.claims, rules, now())
      } catch (error) {
        remembered.delete(hash)
        throw error
      }
      return known.identity
    },
  }
}

/** One text per token: other spellings of the same bytes are no token. */
const isCanonical = (part: string): boolean => Buffer.from(part, 'base64url').toString('base64url') === part

function readHeader(token: string): CompactJWSHeaderParameters & { readonly alg: string } {
  const parts = token.split('.')
  if (parts.length !== 3 || !parts.every(isCanonical)) throw unauthorized('Bad token header')
  let header: ReturnType<typeof decodeProtectedHeader>
  try {
    header = decodeProtectedHeader(token)
  } catch {
    throw unauthorized('Bad token header')
  }
  const { alg, kid } = header
  // Extensions that must be understood change what the signature covers; none is understood here.
  const odd = Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')
  if (typeof alg !== 'string' || odd || (kid !== undefined && typeof kid !== 'string')) {
    throw unauthorized('Bad token header')
  }
  return { ...header, alg }
}

function refusalOf(error: unknown): LockstepError {
  if (error instanceof LockstepError) return error
  if (error instanceof errors.JWSSignatureVerificationFailed) return unauthorized('Invalid token signature')
  if (error instanceof errors.JOSEAlgNotAllowed || error instanceof errors.JOSENotSupported) {
    return unauthorized('Unsupported token algorithm')
  }
  if (error instanceof errors.JWSInvalid) return unauthorized('Bad token header')
  // A key that does not fit the algorithm, or a signature that is no signature of its kind.
  return unauthorized('Invalid token signature')
}
