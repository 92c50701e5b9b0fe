// Which signature algorithms a key may be used with. The list follows from the key and the settings alone; a token's header
// only chooses from it, so a public key can never be taken for a shared secret, and `none` is no algorithm.
import type { KeyObject } from 'node:crypto'
import { LockstepError } from '../../protocol/errors.ts'

export const ALGORITHMS = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const
export type Algorithm = (typeof ALGORITHMS)[number]

const RSA_BITS = 2_048
const CURVES: Readonly<Record<string, Algorithm>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }

export const SECRET_ALGORITHMS: readonly Algorithm[] = ALGORITHMS.filter((name) => name.startsWith('HS'))
export const PUBLIC_ALGORITHMS: readonly Algorithm[] = ALGORITHMS.filter((name) => !name.startsWith('HS'))

/** What a public key can check. */
export function algorithmsOfKey(key: KeyObject): readonly Algorithm[] {
  const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = key
  if (kind === 'rsa') {
    const bits = details?.modulusLength ?? 0
    if (bits < RSA_BITS) throw wrongKey(`an RSA key of at least ${RSA_BITS} bits; this one has ${bits}`)
    return ALGORITHMS.filter((name) => name.startsWith('RS'))
  }
  if (kind === 'ed25519') return ['EdDSA']
  const ofCurve = kind === 'ec' ? CURVES[details?.namedCurve ?? ''] : undefined
  if (ofCurve === undefined) throw wrongKey('an RSA, P-256, P-384, P-521 or Ed25519 key')
  return [ofCurve]
}

const wrongKey = (right: string): LockstepError =>
  new LockstepError('bad_request', `setting JWT_PUBLIC_KEY must be ${right}`, { field: 'JWT_PUBLIC_KEY' })

/** `auto`, or one or several names separated by commas: those of them that the key can be used with. */
export function allowedAlgorithms(setting: string, possible: readonly Algorithm[]): readonly Algorithm[] {
  if (setting === 'auto') return possible
  const named = setting.split(',').map((name) => name.trim())
  const unknown = named.find((name) => !ALGORITHMS.some((each) => each === name))
  const allowed = possible.filter((name) => named.includes(name))
  if (unknown === undefined && allowed.length === named.length) return allowed
  throw new LockstepError(
    'bad_request',
    `setting JWT_ALGORITHM must be auto or of what the key can be used with: ${possible.join(', ')}`,
    { field: 'JWT_ALGORITHM' },
  )
}
