// The broker's settings: one table of environment variables, read through the same fields as every request. A setting that
// is not understood stops the start with its name and what would be right; nothing is guessed.
import { booleanText, integerText, oneOf, optional, readFields, root, text } from '../protocol/check.ts'
import type { Field, Values } from '../protocol/check.ts'
import { LockstepError } from '../protocol/errors.ts'
import { LIMITS } from '../protocol/limits.ts'

interface Setting<T> extends Field<T> {
  /** For docs/reference/settings.md. */
  readonly about: string
  readonly fallback: string
}

const setting = <T>(field: Field<T>, fallback: string, about: string): Setting<T> => ({ ...field, fallback, about })

export const SETTINGS = {
  DATABASE_URL: setting(
    optional(text({ min: 1, max: 4_096 }), null),
    '',
    'Connection string of the PostgreSQL that holds everything. Required by `lockstep serve`.',
  ),
  HOST: setting(optional(text({ min: 1, max: 255 }), '127.0.0.1'), '127.0.0.1', 'Address to listen on.'),
  PORT: setting(optional(integerText(0, 65_535), 6632), '6632', 'Port to listen on; 0 takes a free one.'),
  LOCKSTEP_ALLOW_OPEN: setting(
    optional(booleanText, false),
    'false',
    'This build has no authentication: it listens beyond loopback only when this is `true`.',
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

export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
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

/** Refuses an address that others can reach, as long as there is no authentication to stop them. */
export function demandLoopback(host: string, allowOpen: boolean): void {
  if (allowOpen || LOOPBACK.test(host)) return
  throw new LockstepError(
    'bad_request',
    `HOST ${host} can be reached by others and this build has no authentication; listen on 127.0.0.1, or set LOCKSTEP_ALLOW_OPEN=true if something before it keeps strangers out`,
    { field: 'HOST' },
  )
}
