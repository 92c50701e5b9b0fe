// The keys that an issuer publishes, fetched when they are needed and kept. A refresh goes on beside the requests as long as the
// keys at hand are good; an unknown key id asks again, but not more often than the cool-down allows, so that made-up ids cannot
// turn this broker into a hammer. An answer is bounded in time and size, and shared secrets in it are refused.
import { createLocalJWKSet } from 'jose'
import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { isRecord } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { unauthorized } from './judge-claims.ts'

export interface Jwks {
  find(header: JWSHeaderParameters): Promise<CryptoKey>
  /** Starts a refresh when it is time; false when the keys at hand may not be used any more. */
  tend(): boolean
  /** Counts the sets that were read: what was checked with an older one is checked again. */
  readonly generation: number
}

export interface JwksSettings {
  readonly url: URL
  readonly onFault: (message: string) => void
  /** Monotonic milliseconds; tests move them. */
  readonly now?: () => number
}

type Resolve = ReturnType<typeof createLocalJWKSet>

export function createJwks({ url, onFault, now = () => performance.now() }: JwksSettings): Jwks {
  let keys: Resolve | null = null
  let generation = 0
  let readAt = Number.NEGATIVE_INFINITY
  let askedAt = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | null = null

  function refresh(): Promise<void> {
    askedAt = now()
    asking ??= take()
    return asking
  }

  async function take(): Promise<void> {
    try {
      keys = createLocalJWKSet(await fetchKeys(url))
      generation += 1
      readAt = now()
    } catch (error) {
      onFault(error instanceof Error ? error.message : String(error))
    } finally {
      asking = null
    }
  }

  const isUsable = (): boolean => keys !== null && now() - readAt <= LIMITS.jwksStaleMs
  const pauseMs = (): number => (isUsable() ? LIMITS.jwksCooldownMs : LIMITS.jwksRetryMs)
  const mayAsk = (): boolean => asking !== null || now() - askedAt >= pauseMs()

  function tend(): boolean {
    if (!isUsable()) return false
    if (now() - readAt > LIMITS.jwksFreshMs && mayAsk()) void refresh()
    return true
  }

  async function find(header: JWSHeaderParameters): Promise<CryptoKey> {
    if (!tend() && mayAsk()) await refresh()
    if (keys === null || !isUsable()) {
      throw new LockstepError('unavailable', 'the keys of the token issuer cannot be fetched')
    }
    try {
      return await keys(header)
    } catch {
      if (!mayAsk()) throw unauthorized('Unknown key ID')
    }
    await refresh()
    return await keys(header).catch(() => {
      throw unauthorized('Unknown key ID')
    })
  }

  return {
    find,
    tend,
    get generation() {
      return generation
    },
  }
}

/** The published set; throws a text that says what is wrong with the answer. Also what doctor looks at. */
export async function fetchKeys(url: URL): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(LIMITS.jwksTimeoutMs),
  })
  if (!response.ok) throw new Error(`the key address answered ${response.status}`)
  const body: unknown = JSON.parse(await readBounded(response))
  const list = isRecord(body) ? body['keys'] : null
  if (!Array.isArray(list)) throw new Error('the key address answered no key set')
  if (list.length === 0 || list.length > LIMITS.jwksKeys) {
    throw new Error(`the key address answered ${list.length} keys; from 1 to ${LIMITS.jwksKeys} are taken`)
  }
  const keys = list.filter((key) => isRecord(key) && key['kty'] !== 'oct' && key['d'] === undefined)
  if (keys.length === 0) throw new Error('the key address answered no public key')
  return { keys }
}

async function readBounded(response: Response): Promise<string> {
  const tooLarge = new Error(`the key address answered more than ${LIMITS.jwksBytes} bytes`)
  const chunks: Uint8Array[] = []
  let size = 0
  if (response.body === null) return ''
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > LIMITS.jwksBytes) throw tooLarge
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
