// What doctor says about the settings of its environment.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examineSecurity } from './examine-security.ts'

const seen = async (env: NodeJS.ProcessEnv): Promise<string[]> =>
  (await examineSecurity(env)).map(({ check, status }) => `${status} ${check}`)

test('an open broker, a guessable secret, missing keys and settings that do not fit are told', async () => {
  const secret = 'x'.repeat(32)
  assert.deepEqual(await seen({}), ['ok access'])
  assert.deepEqual(await seen({ HOST: '0.0.0.0' }), ['ok access'])
  assert.deepEqual(await seen({ HOST: '0.0.0.0', LOCKSTEP_ALLOW_OPEN: 'true' }), ['fail access'])
  assert.deepEqual(await seen({ JWT_SECRET: 'x'.repeat(31) }), ['ok access', 'warn tokens', 'warn expiry'])
  assert.deepEqual(await seen({ JWT_SECRET: secret, JWT_REQUIRE_EXP: 'true' }), ['ok access', 'ok tokens'])
  assert.deepEqual(await seen({ JWT_SECRET: secret, JWT_REQUIRE_EXP: 'true', HOST: '10.0.0.1' }), [
    'ok access',
    'ok tokens',
    'warn tls',
  ])
  assert.deepEqual(await seen({ JWT_JWKS_URL: 'http://127.0.0.1:1/keys', JWT_REQUIRE_EXP: 'true' }), [
    'ok access',
    'fail tokens',
  ])
  assert.deepEqual(await seen({ JWT_SECRET: 'short' }), ['fail settings'])
  const findings = JSON.stringify(await examineSecurity({ JWT_SECRET: `${secret}\n-----BEGIN`, HOST: '10.0.0.1' }))
  assert.ok(!findings.includes(secret), 'no secret is printed')
})
