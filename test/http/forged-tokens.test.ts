// CASES B31: five thousand tokens that no issuer made, of every trick known for them, against every kind of key; none is
// accepted, and those that an issuer did make pass in between. LOCKSTEP_SEED draws the same ones again.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createAuthenticator } from '../../src/broker/auth/authenticator.ts'
import type { Authenticator } from '../../src/broker/auth/authenticator.ts'
import { LockstepError } from '../../src/protocol/errors.ts'
import { publishKeys } from '../kit/publish-keys.ts'
import { createIssuer, hmac, issuerToken, join, part, secretToken } from '../kit/tokens.ts'
import type { Issuer } from '../kit/tokens.ts'
import { exchange, serve } from './served.ts'

const SECRET = 'the secret that the forger does not have'
const FORGED = 5_000

/** Mulberry32: small, and the same everywhere. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}

interface Target {
  readonly name: string
  readonly auth: Authenticator
  readonly algs: readonly string[]
  /** A token that its issuer made. */
  readonly good: (payload: unknown) => string
  /** What the forger can know: public keys in all their spellings. */
  readonly known: readonly (string | Buffer)[]
}

interface Forger {
  readonly roll: (sides: number) => number
  readonly target: Target
  readonly strangers: readonly Issuer[]
}

const ADMIN = { sub: 'eve', role: 'admin', roles: ['admin'], exp: 4_000_000_000, aud: 'us', iss: 'us' }
const pick = <T>(roll: (sides: number) => number, list: readonly T[]): T => {
  const chosen = list[roll(list.length)]
  if (chosen === undefined) throw new Error('nothing to choose from')
  return chosen
}

const KIDS: readonly unknown[] = [
  '../../../dev/null',
  '/dev/null',
  "' union select 'k' --",
  '',
  0,
  null,
  ['k1'],
  {},
  '__proto__',
  'constructor',
  'x'.repeat(3_000),
  'k1\0',
  '😀',
  'https://eve.example/keys',
]
const NONES = [
  'none',
  'None',
  'NONE',
  'nOnE',
  '',
  ' none',
  'none\0',
  'ｎｏｎｅ',
  'HS256\0',
  'hs256',
  'HS256 ',
  'ＨＳ256',
  'RS257',
  'dir',
  'A128KW',
  'PBES2-HS256+A128KW',
  null,
  256,
  ['HS256'],
  { alg: 'HS256' },
]
const HASHES: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }

function altered(text: string, roll: (sides: number) => number): string {
  const at = roll(text.length)
  const other = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.replace(text[at] ?? '', '')
  return text.slice(0, at) + pick(roll, [...other]) + text.slice(at + 1)
}

const deep = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

const TRICKS: Readonly<Record<string, (forger: Forger) => string>> = {
  'no algorithm': ({ roll }) => join({ alg: pick(roll, NONES), typ: 'JWT' }, ADMIN, () => Buffer.alloc(roll(2) * 32)),
  unsigned: ({ target }) => `${target.good(ADMIN).split('.').slice(0, 2).join('.')}.`,
  'a public key as the secret': ({ roll, target }) => {
    const alg = pick(roll, ['HS256', 'HS384', 'HS512'])
    return join({ alg, kid: 'k1' }, ADMIN, (data) => hmac(pick(roll, target.known), data, HASHES[alg]))
  },
  'another secret': ({ roll }) => {
    const alg = pick(roll, ['HS256', 'HS384', 'HS512'])
    const guess = pick(roll, [
      '',
      'secret',
      'changeme',
      SECRET.toUpperCase(),
      `${SECRET} `,
      SECRET.slice(0, -1),
      '\0',
      'null',
    ])
    return join({ alg }, ADMIN, (data) =>
      createHmac(HASHES[alg] ?? '', guess)
        .update(data)
        .digest(),
    )
  },
  'another issuer': ({ roll, target, strangers }) =>
    issuerToken(pick(roll, strangers), ADMIN, { kid: pick(roll, ['k1', 'k2', 'k3']), alg: pick(roll, target.algs) }),
  'an altered signature': ({ roll, target }) => {
    const [head, body, mark] = target.good(ADMIN).split('.')
    return `${head}.${body}.${altered(mark ?? '', roll)}`
  },
  'an altered payload': ({ roll, target }) => {
    const [head, body, mark] = target.good({ ...ADMIN, role: 'read-only', roles: [] }).split('.')
    return `${head}.${roll(2) === 0 ? part(ADMIN) : altered(body ?? '', roll)}.${mark}`
  },
  'an altered header': ({ roll, target }) => {
    const [head, body, mark] = target.good(ADMIN).split('.')
    return `${altered(head ?? '', roll)}.${body}.${mark}`
  },
  'another algorithm over the same signature': ({ roll, target }) => {
    const [, body, mark] = target.good(ADMIN).split('.')
    const algs = [
      'HS256',
      'HS384',
      'HS512',
      'RS256',
      'RS384',
      'RS512',
      'PS256',
      'ES256',
      'ES384',
      'ES512',
      'ES256K',
      'EdDSA',
      'Ed25519',
    ]
    return `${part({ typ: 'JWT', alg: pick(roll, algs), x: roll(1_000) })}.${body}.${mark}`
  },
  'a key of its own in the header': ({ roll, strangers }) => {
    const own = pick(roll, strangers)
    const carried = pick(roll, [
      { jwk: own.jwk },
      { jku: 'https://eve.example/keys' },
      { x5u: 'https://eve.example/c' },
      { x5c: [part(own.pem)] },
    ])
    return issuerToken(own, ADMIN, { ...carried, kid: own.kid })
  },
  'an injected key id': ({ roll, strangers }) => issuerToken(pick(roll, strangers), ADMIN, { kid: pick(roll, KIDS) }),
  'an injected key id under an empty secret': ({ roll }) =>
    join({ alg: 'HS256', kid: pick(roll, KIDS) }, ADMIN, (data) => hmac('', data)),
  'zeros for a signature': ({ roll, target }) => {
    const [head, body] = target.good(ADMIN).split('.')
    return `${head}.${body}.${Buffer.alloc(pick(roll, [1, 32, 48, 64, 96, 132, 256]), pick(roll, [0, 1, 255])).toString('base64url')}`
  },
  'critical extensions': ({ roll, target }) => {
    const [, body, mark] = target.good(ADMIN).split('.')
    const odd = pick(roll, [
      { crit: ['b64'], b64: false },
      { crit: [] },
      { crit: ['exp'] },
      { b64: false },
      { crit: 'alg' },
    ])
    return `${part({ alg: pick(roll, target.algs), ...odd })}.${body}.${mark}`
  },
  'halves of two tokens': ({ roll, target }) => {
    const [one, two] = [target.good({ ...ADMIN, role: 'read-only' }), target.good({ ...ADMIN, n: roll(9) })].map(
      (token) => token.split('.'),
    )
    return `${one?.[0]}.${two?.[1]}.${one?.[2]}`
  },
  'claims said twice': ({ roll, target }) => {
    const [head, , mark] = target.good(ADMIN).split('.')
    const name = pick(roll, ['role', 'alg', 'exp', 'sub'])
    return `${head}.${part(`{"${name}":"x","role":"read-only","role":"admin","${name}":"admin"}`)}.${mark}`
  },
  'algorithms said twice': ({ roll, target }) =>
    join(`{"alg":"none","alg":"${pick(roll, target.algs)}","alg":"none"}`, ADMIN, () => Buffer.alloc(0)),
  'deep and wide': ({ roll, target }) => {
    const [head, , mark] = target.good(ADMIN).split('.')
    const body = pick(roll, [
      deep(1_000),
      `[${'[],'.repeat(1_500)}1]`,
      `{"role":"${'é'.repeat(900)}"}`,
      JSON.stringify({ role: 'admin', pad: 'x'.repeat(roll(5_000)) }),
    ])
    return roll(2) === 0 ? `${part(deep(500))}.${part(body)}.${mark}` : `${head}.${part(body)}.${mark}`
  },
  huge: ({ roll, target }) => `${target.good(ADMIN)}${'A'.repeat(8_192 + roll(4_000))}`,
  'no token at all': ({ roll, target }) => {
    const good = target.good(ADMIN)
    const [head, body, mark] = good.split('.')
    return pick(roll, [
      `${good}.`,
      `.${good}`,
      `${good}=`,
      `${good}.${good}`,
      `${head}..${mark}`,
      '..',
      body ?? '',
      `${head}.${body}.${mark}.${mark}`,
      good.replaceAll('.', ','),
      `${good}%00`,
      `${good}\u00e9`,
      '😀',
      part(good),
      `"${good}"`,
      `${part('null')}.${body}.${mark}`,
      `${part('[]')}.${body}.${mark}`,
    ])
  },
  'past or to come': ({ roll, target }) =>
    target.good(
      pick(roll, [
        { ...ADMIN, exp: 1 },
        { ...ADMIN, exp: '4000000000' },
        { ...ADMIN, nbf: 4_000_000_000 },
        { ...ADMIN, iat: 4_000_000_000 },
        { ...ADMIN, exp: -1 },
        { ...ADMIN, exp: true },
      ]),
    ),
  'for another audience, of another issuer': ({ roll, target }) =>
    target.good(
      pick(roll, [
        { ...ADMIN, aud: 'them' },
        { ...ADMIN, aud: [] },
        { ...ADMIN, aud: { 0: 'us' } },
        { ...ADMIN, iss: 'them' },
        { ...ADMIN, iss: null },
        { ...ADMIN, iss: ['us'] },
      ]),
    ),
}

test('five thousand forged tokens: none is accepted', async (t) => {
  const seed = Number(process.env['LOCKSTEP_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  t.diagnostic(`replay: LOCKSTEP_SEED=${seed}`)
  const roll = dice(seed)
  const rules = { issuer: 'us', audience: ['us'] }
  const issuers = [createIssuer('RS256', 'k1'), createIssuer('ES256', 'k2'), createIssuer('EdDSA', 'k3')]
  const strangers = ['RS256', 'ES256', 'ES384', 'EdDSA'].map((alg) => createIssuer(alg, 'eve'))
  const published = await publishKeys(
    t,
    issuers.map((issuer) => issuer.jwk),
  )
  const known = issuers.flatMap((issuer) => [
    issuer.pem,
    issuer.pem.trim(),
    issuer.publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(issuer.jwk),
    String(issuer.jwk['n'] ?? issuer.jwk['x']),
    Buffer.from(String(issuer.jwk['n'] ?? issuer.jwk['x']), 'base64url'),
  ])
  const secretAuth = createAuthenticator({ ...rules, secret: SECRET })
  const targets: readonly Target[] = [
    {
      name: 'secret',
      auth: secretAuth,
      algs: ['HS256', 'HS384', 'HS512'],
      good: (payload) => secretToken(SECRET, payload),
      known,
    },
    ...issuers.map((issuer) => ({
      name: issuer.alg,
      auth: createAuthenticator({ ...rules, publicKey: issuer.pem }),
      algs: [issuer.alg],
      good: (payload: unknown) => issuerToken(issuer, payload),
      known,
    })),
    {
      name: 'published keys',
      auth: createAuthenticator({ ...rules, jwksUrl: published.url }),
      algs: ['RS256', 'ES256', 'EdDSA'],
      good: (payload) => issuerToken(pick(roll, issuers), payload),
      known,
    },
  ]
  const { url } = await serve(t, { auth: { ...rules, secret: SECRET } })
  const tricks = Object.entries(TRICKS)
  const tried = new Map<string, number>()
  for (let nth = 0; nth < FORGED; nth += 1) {
    const target = pick(roll, targets)
    const [trick, forge] = pick(roll, tricks)
    const token = forge({ roll, target, strangers })
    const told = `number ${nth}, ${trick} for ${target.name}: ${token.slice(0, 300)}`
    const caught: unknown = await (async () => target.auth.identify(`Bearer ${token}`))().catch(
      (error: unknown) => error,
    )
    assert.ok(
      caught instanceof LockstepError && caught.code === 'unauthorized',
      `accepted or broke: ${told} ${String(caught)}`,
    )
    tried.set(trick, (tried.get(trick) ?? 0) + 1)
    if (nth % 50 === 0) {
      const passed = await target.auth.identify(`Bearer ${target.good(ADMIN)}`)
      assert.deepEqual(passed, { sub: 'eve', roles: ['admin'] }, 'what the issuer made passes')
      const header = { authorization: `Bearer ${token}` }
      if (/^[\x21-\x7e]+$/.test(token)) {
        const status = (await exchange(url, 'GET', '/api/v1/resources/queues', undefined, header)).status
        assert.ok(status === 401, `${status}: ${told}`)
      }
    }
  }
  assert.equal(tried.size, tricks.length, 'every trick was tried')
  assert.ok(published.asked <= 2, `the issuer was asked ${published.asked} times`)
})
