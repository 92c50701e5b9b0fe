// The settings of a broker as they stand in this environment: whether strangers can reach it, whether its tokens can be
// guessed, and whether the keys of the issuer can be fetched. It reads settings only and prints no secret.

import { authOptions } from '../../broker/auth/auth-settings.ts'
import { authRules } from '../../broker/auth/auth-options.ts'
import type { AuthRules } from '../../broker/auth/auth-options.ts'
import { fetchKeys } from '../../broker/auth/jwks.ts'
import { isLoopback, readSettings, tlsOptions } from '../../broker/config.ts'
import { readTls } from '../../broker/tls.ts'
import type { Finding } from '../examine.ts'
import { fail, fine, warn } from './finding.ts'

const SECRET_BYTES = 32

export async function examineSecurity(env: NodeJS.ProcessEnv): Promise<readonly Finding[]> {
  try {
    const settings = readSettings(env)
    const options = authOptions(settings)
    const rules = options && authRules(options)
    const tls = tlsOptions(settings)
    if (tls) readTls(tls)
    const reachable = !isLoopback(settings.HOST)
    return [
      ...openness(settings.HOST, reachable, rules !== null, settings.LOCKSTEP_ALLOW_OPEN),
      ...(rules ? await tokens(rules) : []),
      ...transport(reachable && rules !== null, tls !== null),
    ]
  } catch (error) {
    return [
      fail('settings', error instanceof Error ? error.message : String(error), 'a broker would not start with them'),
    ]
  }
}

function openness(host: string, reachable: boolean, checksTokens: boolean, allowOpen: boolean): readonly Finding[] {
  if (checksTokens) return [fine('access', 'a broker with these settings asks for tokens')]
  if (!reachable) return [fine('access', `a broker with these settings listens on ${host} only`)]
  const seen = `a broker with these settings lets anybody who reaches ${host} call everything`
  if (!allowOpen)
    return [fine('access', `a broker with these settings refuses to start: ${host} can be reached by others`)]
  return [
    fail(
      'access',
      seen,
      'set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, or make sure that something before it keeps strangers out',
    ),
  ]
}

async function tokens(rules: AuthRules): Promise<readonly Finding[]> {
  const { keys } = rules
  const findings: Finding[] = []
  if (keys.kind === 'secret' && keys.secret.length < SECRET_BYTES) {
    const seen = `the shared secret has ${keys.secret.length} bytes and may be guessed from any token`
    findings.push(warn('tokens', seen, `use ${SECRET_BYTES} random bytes: openssl rand -base64 32`))
  } else if (keys.kind === 'jwks') findings.push(await published(keys.url))
  else findings.push(fine('tokens', `checked with ${rules.algorithms.join(', ')}`))
  if (!rules.requireExpiry) {
    findings.push(
      warn(
        'expiry',
        'a token without exp is good for ever',
        'JWT_REQUIRE_EXP=true, when every client has tokens that expire',
      ),
    )
  }
  return findings
}

async function published(url: URL): Promise<Finding> {
  try {
    const { keys } = await fetchKeys(url)
    return fine('tokens', `checked with ${keys.length} published keys`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return fail(
      'tokens',
      `the issuer's keys cannot be fetched: ${why}`,
      'a broker that has kept older ones serves for a day; look at JWT_JWKS_URL',
    )
  }
}

function transport(needed: boolean, secured: boolean): readonly Finding[] {
  if (secured) return [fine('tls', 'the certificate and its key fit')]
  if (!needed) return []
  return [
    warn(
      'tls',
      'tokens would travel in the clear',
      'set LOCKSTEP_TLS_CERT_FILE and LOCKSTEP_TLS_KEY_FILE, or let a proxy before it speak TLS',
    ),
  ]
}
