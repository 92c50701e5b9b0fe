// The broker's settings: one table of environment variables, read through the same fields as every request. A setting that
// is not understood stops the start with its name and what would be right; nothing is guessed.
import { booleanText, integerText, oneOf, optional, readFields, root, text } from '../protocol/check.ts'
import type { Values } from '../protocol/check.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'
import { AUTH_SETTINGS } from './auth/auth-settings.ts'
import { withSecretFiles } from './secret-files.ts'
import { secretSetting, setting } from './setting.ts'
import type { TlsOptions } from './tls.ts'

export const SETTINGS = {
  DATABASE_URL: secretSetting(
    optional(text({ min: 1, max: 4_096 }), null),
    'Connection string of the PostgreSQL that holds everything. Required by `lockstep serve`.',
  ),
  HOST: setting(optional(text({ min: 1, max: 255 }), '127.0.0.1'), '127.0.0.1', 'Address to listen on.'),
  PORT: setting(optional(integerText(0, 65_535), 6632), '6632', 'Port to listen on; 0 takes a free one.'),
  LOCKSTEP_ALLOW_OPEN: setting(
    optional(booleanText, false),
    'false',
    'Listen beyond loopback although no token is checked: only when something before the broker keeps strangers out.',
  ),
  ...AUTH_SETTINGS,
  LOCKSTEP_ENCRYPTION_KEYS: secretSetting(
    optional(text({ min: 1, max: LIMITS.secretFileBytes }), null),
    'Keys for the payloads of queues whose `encryptionEnabled` is on: `name:key` pairs separated by commas, the current one first, each key 32 random bytes in base64 or hex.',
  ),
  LOCKSTEP_TLS_CERT_FILE: setting(
    optional(text({ min: 1, max: 4_096 }), null),
    '',
    'Serve HTTPS with the certificate in this PEM file, followed by those between it and the root. Read again when it changes and on SIGHUP.',
  ),
  LOCKSTEP_TLS_KEY_FILE: setting(
    optional(text({ min: 1, max: 4_096 }), null),
    '',
    'The key of that certificate, in PEM.',
  ),
  LOCKSTEP_TLS_MIN_VERSION: setting(
    optional(oneOf('TLSv1.2', 'TLSv1.3'), 'TLSv1.2'),
    'TLSv1.2',
    'The oldest version of TLS that is spoken.',
  ),
  LOCKSTEP_HOST_NAMES: setting(
    optional(text({ min: 1, max: 4_096 }), null),
    '',
    'Names besides localhost under which clients reach this broker, separated by commas; pages under these names count as its own. Requests for other names are refused: a web page may have pointed its own name here. Without it a broker on loopback answers only to localhost, one beyond loopback to any name.',
  ),
  LOCKSTEP_CONNECTIONS: setting(
    optional(integerText(2, 200), LIMITS.poolConnections),
    String(LIMITS.poolConnections),
    'Connections to PostgreSQL at most.',
  ),
  DEFAULT_SUBSCRIPTION_MODE: setting(
    optional(oneOf('new', 'all'), 'new'),
    'new',
    'Where a group that names no mode begins: `new` at its first pop, `all` at the oldest message.',
  ),
  LOCKSTEP_REQUIRE_LEASE: setting(
    optional(booleanText, false),
    'false',
    'Refuse acks without a lease on every queue, not only on those whose `requireLease` is on.',
  ),
  LOCKSTEP_DRAIN_MS: setting(
    optional(integerText(0, 600_000), 10_000),
    '10000',
    'Milliseconds that a stop waits for requests in flight before it cuts them.',
  ),
  LOG_LEVEL: setting(optional(oneOf('info', 'error', 'silent'), 'info'), 'info', 'What is written to the log.'),
} as const

export type Settings = Values<typeof SETTINGS>

const SECRETS = Object.entries(SETTINGS).flatMap(([name, row]) => ('secret' in row ? [name] : []))

export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const filled = withSecretFiles(environment, SECRETS)
  const given = Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== undefined && value !== ''))
  return readFields(SETTINGS, given, root('setting '))
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/

export interface HostRule {
  /** Whether a Host header names this broker. */
  readonly answersTo: (host: string) => boolean
  /** Whether a page of this host (with its port) is the broker's own, where the request says `host`. */
  readonly isOwn: (page: string, host: string) => boolean
}

/**
 * One that listens on loopback is called localhost, by address, or as it was told; one that others reach has any name until
 * it is told some. A page is its own under the request's name or a name that it was told.
 */
export function hostRule(listensOn: string, names: readonly string[]): HostRule {
  const told = new Set(names.map((name) => name.trim().toLowerCase()).filter((name) => name !== ''))
  const any = told.size === 0 && !LOOPBACK.test(listensOn)
  return {
    answersTo(host) {
      const full = host.toLowerCase()
      const name = full.replace(/:\d+$/, '')
      return any || LOOPBACK.test(name) || name === listensOn || told.has(name) || told.has(full)
    },
    isOwn: (page, host) => page === host.toLowerCase() || told.has(page),
  }
}

export const isLoopback = (host: string): boolean => LOOPBACK.test(host)

/** Refuses an address that others can reach, unless tokens stop strangers or somebody said that it is meant. */
export function demandLoopback(host: string, checksTokens: boolean, allowOpen: boolean): void {
  if (allowOpen || checksTokens || isLoopback(host)) return
  throw new LockstepError(
    'bad_request',
    `HOST ${host} can be reached by others and no token is checked; set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL, listen on 127.0.0.1, or set LOCKSTEP_ALLOW_OPEN=true if something before it keeps strangers out`,
    { field: 'HOST' },
  )
}

export function tlsOptions(settings: Settings): TlsOptions | null {
  const { LOCKSTEP_TLS_CERT_FILE: certFile, LOCKSTEP_TLS_KEY_FILE: keyFile } = settings
  if (certFile === null && keyFile === null) return null
  if (certFile === null || keyFile === null) {
    throw new LockstepError(
      'bad_request',
      'LOCKSTEP_TLS_CERT_FILE and LOCKSTEP_TLS_KEY_FILE must be set both or not at all',
      {
        field: certFile === null ? 'LOCKSTEP_TLS_CERT_FILE' : 'LOCKSTEP_TLS_KEY_FILE',
      },
    )
  }
  return { certFile, keyFile, minVersion: settings.LOCKSTEP_TLS_MIN_VERSION }
}
