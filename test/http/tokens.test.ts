// The judgement of tokens: every algorithm with its key, every text of the wire, times by a clock that the test moves, and
// settings that would weaken the check.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { LockstepError } from '../../src/protocol/errors.ts'
import { LIMITS } from '../../src/protocol/limits.ts'
import { createAuthenticator } from '../../src/broker/auth/authenticator.ts'
import type { Authenticator } from '../../src/broker/auth/authenticator.ts'
import type { AuthOptions } from '../../src/broker/auth/auth-options.ts'
import { createIssuer, hmac, issuerToken, join, secretToken } from '../kit/tokens.ts'
import { until } from '../kit/quiet.ts'
import { createJwks } from '../../src/broker/auth/jwks.ts'
import { publishKeys } from '../kit/publish-keys.ts'

const SECRET = 'a secret of more than thirty-two bytes'
const NOW = 1_800_000_000

async function verdict(auth: Authenticator, token: string | undefined): Promise<unknown> {
  try {
    return await auth.identify(token === undefined ? undefined : `Bearer ${token}`)
  } catch (error) {
    assert.ok(error instanceof LockstepError, String(error))
    return `${error.status} ${error.message}`
  }
}

const at = (options: AuthOptions, now: () => number = () => NOW): Authenticator => createAuthenticator(options, { now })

test('each algorithm is checked with a key of its own kind, and with no other', async () => {
  const names = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
  const issuers = names.map((name) => createIssuer(name, name))
  const admin = { sub: 'ada', roles: ['admin'] }
  for (const issuer of issuers) {
    const auth = at({ publicKey: issuer.pem })
    assert.deepEqual(await verdict(auth, issuerToken(issuer, { sub: 'ada', role: 'admin' })), admin, issuer.alg)
    for (const other of issuers) {
      if (other === issuer) continue
      const kind = other.alg.slice(0, 2) === issuer.alg.slice(0, 2) && issuer.alg.startsWith('RS')
      const right = kind ? '401 Invalid token signature' : '401 Unsupported token algorithm'
      assert.equal(await verdict(auth, issuerToken(other, { role: 'admin' })), right, `${other.alg} for ${issuer.alg}`)
    }
    assert.equal(
      await verdict(
        auth,
        join({ alg: 'HS256' }, { role: 'admin' }, (data) => hmac(issuer.pem, data)),
      ),
      '401 Unsupported token algorithm',
    )
  }
  const auth = at({ secret: SECRET })
  for (const bits of [256, 384, 512] as const) {
    assert.deepEqual(await verdict(auth, secretToken(SECRET, { sub: 'ada', role: 'admin' }, bits)), admin)
  }
  const one = at({ secret: SECRET, algorithm: 'HS512' })
  assert.equal(await verdict(one, secretToken(SECRET, { role: 'admin' }, 256)), '401 Unsupported token algorithm')
  assert.deepEqual(await verdict(one, secretToken(SECRET, { sub: 'ada', role: 'admin' }, 512)), admin)
})

test("what is wrong with a token is said in the wire's words", async () => {
  const auth = at({ secret: SECRET, issuer: 'us', audience: ['a', 'b'], clockSkewSeconds: 10 })
  const good = { iss: 'us', aud: ['x', 'b'], role: 'read-only', sub: 'ada', exp: NOW + 60 }
  assert.deepEqual(await verdict(auth, secretToken(SECRET, good)), { sub: 'ada', roles: ['read-only'] })
  const cases: readonly (readonly [string, unknown])[] = [
    ['Token has expired', { ...good, exp: NOW - 10 }],
    ['Token not yet valid', { ...good, nbf: NOW + 11 }],
    ['Token issued in the future', { ...good, iat: NOW + 11 }],
    ['Invalid token issuer', { ...good, iss: 'them' }],
    ['Invalid token issuer', { ...good, iss: ['us'] }],
    ['Invalid token audience', { ...good, aud: 'c' }],
    ['Invalid token audience', { ...good, aud: undefined }],
    ['Bad token claims', { ...good, exp: String(NOW + 60) }],
    ['Bad token claims', [good]],
    ['Invalid token subject', { ...good, sub: 7 }],
    ['Invalid token subject', { ...good, sub: 'a\0b' }],
    ['Invalid token subject', { ...good, sub: 'x'.repeat(513) }],
  ]
  for (const [text, payload] of cases) {
    assert.equal(await verdict(auth, secretToken(SECRET, payload)), `401 ${text}`, JSON.stringify(payload))
  }
  assert.deepEqual(await verdict(auth, secretToken(SECRET, { ...good, exp: NOW - 9, nbf: NOW + 10, iat: NOW + 10 })), {
    sub: 'ada',
    roles: ['read-only'],
  })
  assert.equal(await verdict(auth, secretToken(`${SECRET}!`, good)), '401 Invalid token signature')
  assert.equal(await verdict(auth, 'abc'), '401 Bad token header')
  assert.equal(await verdict(auth, undefined), '401 Authentication required')
  for (const header of ['', 'Basic YTpi', 'Bearer', 'Bearer  ', 'Bearer a b', `Token ${secretToken(SECRET, good)}`]) {
    await assert.rejects(async () => auth.identify(header), /^LockstepError: Authentication required$/)
  }
})

test('exp may be absent unless it is asked for; a token that was remembered still ends', async () => {
  const forever = secretToken(SECRET, { role: 'admin' })
  assert.deepEqual(await verdict(at({ secret: SECRET }), forever), { sub: null, roles: ['admin'] })
  assert.equal(await verdict(at({ secret: SECRET, requireExpiry: true }), forever), '401 Token has expired')
  let now = NOW
  const auth = at({ secret: SECRET, clockSkewSeconds: 0 }, () => now)
  const token = secretToken(SECRET, { role: 'admin', exp: NOW + 5 })
  assert.ok((await auth.identify(`Bearer ${token}`)).roles.includes('admin'))
  assert.ok(!(auth.identify(`bearer ${token}`) instanceof Promise), 'seen before, so answered at once')
  now += 5
  assert.equal(await verdict(auth, token), '401 Token has expired')
})

test('roles come from both claims under configured names; unknown ones give nothing', async () => {
  const auth = at({ secret: SECRET, roleClaim: 'r', rolesClaim: 'rs', roleNames: { admin: 'root' } })
  const rolesFor = async (payload: unknown): Promise<unknown> => {
    const found = await verdict(auth, secretToken(SECRET, payload))
    return typeof found === 'object' && found !== null ? Reflect.get(found, 'roles') : found
  }
  assert.deepEqual(await rolesFor({ r: 'root' }), ['admin'])
  assert.deepEqual(await rolesFor({ r: 'read-only', rs: ['write-only', 'nobody', 7] }), ['read-only', 'write-only'])
  for (const none of [{}, { r: 'admin' }, { r: ['root'] }, { rs: 'root' }, { role: 'root' }, { r: 'Root' }]) {
    assert.deepEqual(await rolesFor(none), [], JSON.stringify(none))
  }
})

test('published keys are found by id, followed when they change, and asked for within bounds', async (t) => {
  const [first, second, third] = [createIssuer('RS256', 'k1'), createIssuer('ES256', 'k2'), createIssuer('EdDSA', 'k3')]
  const published = await publishKeys(t, [
    first.jwk,
    second.jwk,
    { kty: 'oct', kid: 'oct', k: 'c2VjcmV0', alg: 'HS256' },
  ])
  const auth = at({ jwksUrl: published.url })
  const payload = { role: 'admin' }
  const good = { sub: null, roles: ['admin'] }
  const all = await Promise.all([first, second].map((issuer) => verdict(auth, issuerToken(issuer, payload))))
  assert.deepEqual(all, [good, good])
  assert.equal(published.asked, 1, 'asked once for both')
  assert.equal(await verdict(auth, issuerToken(third, payload)), '401 Unknown key ID')
  assert.equal(await verdict(auth, issuerToken(first, payload, { kid: 'k2' })), '401 Unknown key ID')
  assert.equal(
    await verdict(
      auth,
      join({ alg: 'HS256', kid: 'oct' }, payload, (data) => hmac('secret', data)),
    ),
    '401 Unsupported token algorithm',
  )
  for (let nth = 0; nth < 50; nth += 1) {
    assert.equal(await verdict(auth, issuerToken(third, payload, { kid: `made up ${nth}` })), '401 Unknown key ID')
  }
  assert.equal(published.asked, 1, 'made-up ids within the cool-down ask nobody')
})

test('a set that is a while old is refreshed beside the requests, a new key is found, a dropped one is refused', async (t) => {
  const [first, second] = [createIssuer('ES256', 'k1'), createIssuer('EdDSA', 'k2')]
  const published = await publishKeys(t, [first.jwk])
  let now = 0
  const faults: string[] = []
  const jwks = createJwks({ url: new URL(published.url), onFault: (text) => faults.push(text), now: () => now })
  const found = async (issuer: typeof first): Promise<boolean> =>
    jwks.find({ alg: issuer.alg, kid: issuer.kid }).then(
      () => true,
      () => false,
    )
  assert.deepEqual([jwks.tend(), await found(first), await found(second), published.asked], [false, true, false, 1])
  published.publish([second.jwk])
  assert.deepEqual([await found(second), published.asked], [false, 1], 'not before the cool-down is over')
  now = 30_001
  assert.deepEqual([await found(second), await found(first), published.asked], [true, false, 2])
  published.answer((response) => void response.writeHead(500).end())
  now += 600_001
  assert.equal(jwks.tend(), true, 'the old set serves while the new one is fetched')
  await until('the refusal', () => faults.length === 1)
  assert.equal(await found(second), true)
  now += 86_400_001
  assert.equal(jwks.tend(), false, 'for a day')
  assert.equal(await found(second), false)
  published.publish([first.jwk])
  now += 1_001
  assert.equal(await found(first), true)
})

test('a key address that answers nonsense, too much or nothing gives 503 and lets nobody in', async (t) => {
  const issuer = createIssuer('EdDSA', 'k1')
  const published = await publishKeys(t, [])
  const replies: Parameters<typeof published.answer>[0][] = [
    (response) => void response.writeHead(500).end(),
    (response) => void response.writeHead(200).end('not json'),
    (response) => void response.writeHead(200).end('[]'),
    (response) => void response.writeHead(200).end('{"keys":[]}'),
    (response) => void response.writeHead(200).end(`{"keys":[],"pad":"${'x'.repeat(300_000)}"}`),
    (response) => void response.writeHead(302, { location: published.url }).end(),
    (response) => void response.destroy(),
  ]
  for (const reply of replies) {
    published.answer(reply)
    const faults: string[] = []
    const auth = createAuthenticator(
      { jwksUrl: published.url },
      { now: () => NOW, onFault: (text) => faults.push(text) },
    )
    const found = await verdict(auth, issuerToken(issuer, { role: 'admin' }))
    assert.equal(found, '503 the keys of the token issuer cannot be fetched')
    assert.equal(faults.length, 1)
  }
})

test('a set of published keys is taken up to its limits of keys and bytes, and not past them', async (t) => {
  const issuer = createIssuer('EdDSA', 'k1')
  const published = await publishKeys(t, [])
  const found = async (keys: number, bytes: number | null): Promise<unknown> => {
    const others = Array.from({ length: keys - 1 }, (_, n) => ({ ...issuer.jwk, kid: `other-${n}` }))
    const set = JSON.stringify({ keys: [{ ...issuer.jwk, kid: issuer.kid }, ...others], pad: '' })
    const text = bytes === null ? set : set.replace('"pad":""', `"pad":"${'x'.repeat(bytes - set.length)}"`)
    published.answer((response) => void response.writeHead(200, { 'content-type': 'application/json' }).end(text))
    const auth = createAuthenticator({ jwksUrl: published.url }, { now: () => NOW })
    return verdict(auth, issuerToken(issuer, { role: 'admin', exp: NOW + 60 }))
  }
  const passed = await found(1, null)
  assert.deepEqual(await found(LIMITS.jwksKeys, null), passed)
  assert.equal(await found(LIMITS.jwksKeys + 1, null), '503 the keys of the token issuer cannot be fetched')
  assert.deepEqual(await found(1, LIMITS.jwksBytes), passed)
  assert.equal(await found(1, LIMITS.jwksBytes + 1), '503 the keys of the token issuer cannot be fetched')
  assert.doesNotMatch(String(passed), /^\d{3} /, 'the first one passes')
})

test('settings that would weaken the check are refused without repeating a secret', () => {
  const rsa = createIssuer('RS256', 'k')
  const ec = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const spki = { type: 'spki', format: 'pem' } as const
  const privatePem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const refused: readonly (readonly [AuthOptions, RegExp])[] = [
    [{}, /exactly one of/],
    [{ secret: SECRET, publicKey: rsa.pem }, /exactly one of/],
    [{ secret: rsa.pem }, /JWT_SECRET must be .*not a PEM/],
    [{ secret: 'short' }, /JWT_SECRET must be at least/],
    [{ publicKey: privatePem }, /JWT_PUBLIC_KEY must be the public key only/],
    [{ publicKey: 'hello' }, /JWT_PUBLIC_KEY must be the PEM/],
    [{ publicKey: ec.publicKey.export(spki).toString() }, /JWT_PUBLIC_KEY must be an RSA, P-256/],
    [{ publicKey: weak.publicKey.export(spki).toString() }, /at least 2048 bits; this one has 1024/],
    [{ jwksUrl: 'http://issuer.example/keys' }, /JWT_JWKS_URL must be an https/],
    [{ jwksUrl: 'https://user:word@issuer.example/keys' }, /JWT_JWKS_URL must be an https/],
    [{ jwksUrl: 'file:///etc/keys' }, /JWT_JWKS_URL must be an https/],
    [{ secret: SECRET, algorithm: 'none' }, /JWT_ALGORITHM must be auto/],
    [{ secret: SECRET, algorithm: 'RS256' }, /JWT_ALGORITHM must be auto/],
    [{ publicKey: rsa.pem, algorithm: 'HS256' }, /JWT_ALGORITHM must be auto/],
    [{ publicKey: rsa.pem, algorithm: 'RS256,HS256' }, /JWT_ALGORITHM must be auto/],
    [{ secret: SECRET, clockSkewSeconds: 301 }, /JWT_CLOCK_SKEW must be/],
    [{ secret: SECRET, roleNames: { admin: 'read-only' } }, /another name for each role/],
  ]
  for (const [options, pattern] of refused) {
    assert.throws(
      () => createAuthenticator(options),
      (error: Error) => {
        assert.match(error.message, pattern)
        for (const secret of [options.secret, options.publicKey]) {
          if (secret !== undefined) assert.ok(!error.message.includes(secret))
        }
        return true
      },
    )
  }
})
