// Tokens for tests, made by hand on node:crypto and not by the library that checks them: any header, any payload, any key.
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

export interface Issuer {
  readonly alg: string
  readonly kid: string
  readonly publicKey: KeyObject
  readonly pem: string
  readonly jwk: Readonly<Record<string, unknown>>
  readonly sign: (data: string) => Buffer
}

export const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

export const hmac = (key: string | Buffer, data: string, hash = 'sha256'): Buffer =>
  createHmac(hash, key).update(data).digest()

export function join(header: unknown, payload: unknown, signer: (data: string) => Buffer): string {
  const data = `${part(header)}.${part(payload)}`
  return `${data}.${signer(data).toString('base64url')}`
}

/** A token of a shared secret. */
export const secretToken = (secret: string, payload: unknown, bits: 256 | 384 | 512 = 256): string =>
  join({ alg: `HS${bits}`, typ: 'JWT' }, payload, (data) => hmac(secret, data, `sha${bits}`))

export const issuerToken = (issuer: Issuer, payload: unknown, header: Readonly<Record<string, unknown>> = {}): string =>
  join({ alg: issuer.alg, typ: 'JWT', kid: issuer.kid, ...header }, payload, issuer.sign)

const MAKERS: Readonly<Record<string, () => { readonly publicKey: KeyObject; readonly privateKey: KeyObject }>> = {
  RS: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

/** A key pair of its own for one algorithm. */
export function createIssuer(alg: string, kid: string): Issuer {
  const make = MAKERS[alg.startsWith('RS') ? 'RS' : alg]
  if (make === undefined) throw new Error(`no such algorithm: ${alg}`)
  const { publicKey, privateKey } = make()
  const hash = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`
  return {
    alg,
    kid,
    publicKey,
    pem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' },
    sign: (data) => sign(hash, Buffer.from(data), { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  }
}
