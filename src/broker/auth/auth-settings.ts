// The settings of authentication and the options that they make. Without a source of keys there is no authentication; with one
// of its rules but no source, the start is refused rather than left open.
import { booleanText, integerText, optional, text } from '../../protocol/check.ts'
import type { Values } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { secretSetting, setting } from '../setting.ts'
import type { AuthOptions } from './auth-options.ts'

const name = text({ min: 1, max: 255 })
const secret = optional(text({ min: 1, max: LIMITS.secretFileBytes }), null)

export const AUTH_SETTINGS = {
  JWT_SECRET: secretSetting(
    secret,
    'Checks bearer tokens of HS256, HS384 or HS512 with this shared secret; at least 32 random bytes.',
  ),
  JWT_PUBLIC_KEY: secretSetting(
    secret,
    'Checks bearer tokens of RS256 to RS512, ES256 to ES512 or EdDSA with this public key or certificate in PEM.',
  ),
  JWT_JWKS_URL: setting(
    optional(text({ min: 1, max: 2_048 }), null),
    '',
    'Checks bearer tokens with the public keys that the issuer publishes at this https address, found by `kid`.',
  ),
  JWT_ALGORITHM: setting(
    optional(text({ min: 1, max: 255 }), 'auto'),
    'auto',
    'Algorithms that tokens may use, separated by commas; `auto`: those that the key can be used with. A token never chooses beyond.',
  ),
  JWT_ISSUER: setting(optional(name, null), '', 'What `iss` must be; empty: not looked at.'),
  JWT_AUDIENCE: setting(
    optional(text({ min: 1, max: 2_048 }), null),
    '',
    'One of these, separated by commas, must be in `aud`; empty: not looked at.',
  ),
  JWT_CLOCK_SKEW: setting(
    optional(integerText(0, LIMITS.clockSkewSeconds), LIMITS.clockSkewSecondsDefault),
    String(LIMITS.clockSkewSecondsDefault),
    "Seconds that the issuer's clock may differ when `exp`, `nbf` and `iat` are judged.",
  ),
  JWT_REQUIRE_EXP: setting(
    optional(booleanText, false),
    'false',
    'Refuse tokens without `exp`. Published clients send such tokens, so it is off until it is asked for.',
  ),
  JWT_ROLE_CLAIM: setting(optional(name, 'role'), 'role', 'The claim that names one role.'),
  JWT_ROLES_CLAIM: setting(optional(name, 'roles'), 'roles', 'The claim that lists roles.'),
  JWT_ROLE_ADMIN: setting(optional(name, 'admin'), 'admin', 'What the issuer calls the role that may call everything.'),
  JWT_ROLE_READ_WRITE: setting(
    optional(name, 'read-write'),
    'read-write',
    'What the issuer calls the role that may push, pop, ack, read and write state.',
  ),
  JWT_ROLE_READ_ONLY: setting(
    optional(name, 'read-only'),
    'read-only',
    'What the issuer calls the role that may read.',
  ),
  JWT_ROLE_WRITE_ONLY: setting(
    optional(name, 'write-only'),
    'write-only',
    'What the issuer calls the role that may only push.',
  ),
} as const

type AuthSettings = Values<typeof AUTH_SETTINGS>

/** Null: no authentication. */
export function authOptions(settings: AuthSettings): AuthOptions | null {
  const { JWT_SECRET, JWT_PUBLIC_KEY, JWT_JWKS_URL, JWT_ISSUER, JWT_AUDIENCE } = settings
  if (JWT_SECRET === null && JWT_PUBLIC_KEY === null && JWT_JWKS_URL === null) {
    const rule = JWT_ISSUER !== null ? 'JWT_ISSUER' : JWT_AUDIENCE !== null ? 'JWT_AUDIENCE' : null
    if (rule === null && settings.JWT_ALGORITHM === 'auto' && !settings.JWT_REQUIRE_EXP) return null
    throw new LockstepError(
      'bad_request',
      `setting ${rule ?? 'JWT_ALGORITHM or JWT_REQUIRE_EXP'} needs one of JWT_SECRET, JWT_PUBLIC_KEY and JWT_JWKS_URL: without a key no token is checked`,
      { field: 'JWT_SECRET' },
    )
  }
  return {
    secret: JWT_SECRET ?? undefined,
    publicKey: JWT_PUBLIC_KEY ?? undefined,
    jwksUrl: JWT_JWKS_URL ?? undefined,
    algorithm: settings.JWT_ALGORITHM,
    issuer: JWT_ISSUER ?? undefined,
    audience: JWT_AUDIENCE?.split(',').map((each) => each.trim()),
    clockSkewSeconds: settings.JWT_CLOCK_SKEW,
    requireExpiry: settings.JWT_REQUIRE_EXP,
    roleClaim: settings.JWT_ROLE_CLAIM,
    rolesClaim: settings.JWT_ROLES_CLAIM,
    roleNames: {
      admin: settings.JWT_ROLE_ADMIN,
      'read-write': settings.JWT_ROLE_READ_WRITE,
      'read-only': settings.JWT_ROLE_READ_ONLY,
      'write-only': settings.JWT_ROLE_WRITE_ONLY,
    },
  }
}
