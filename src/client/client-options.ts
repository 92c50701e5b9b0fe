// How a client is made. The way it goes is read from which of url, connectionString and pool is named, and exactly one may be.
import { integer, optional, root } from '../protocol/check.ts'
import { LockstepError } from '../protocol/errors.ts'
import { consoleLogger, type Logger } from './logger.ts'
import { createAddresses } from './http/addresses.ts'
import type { HttpSettings } from './http/http-call.ts'
import { createToken } from './http/token.ts'
import type { Way } from './queue-builder.ts'

interface Common {
  /** Where a failed handler or a poll that is tried again is reported; default: the console. */
  readonly logger?: Logger | undefined
}

/** Through a broker; works in browsers too. */
export interface HttpOptions extends Common {
  /** One broker, or several over one PostgreSQL: a request goes to the next when one fails. */
  readonly url: string | readonly string[]
  /**
   * Sent as `Authorization: Bearer …` and never logged. A function is asked before the first request and again after a 401, so
   * that a token may expire; what it gives is kept in between.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** How long an answer may take, beside the waiting that a pop asked for; default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly connectionString?: never
  readonly pool?: never
}

interface InProcess extends Common {
  /**
   * Keys for the payloads of encrypted queues, the current one first: `name:key` pairs separated by commas, each key 32 bytes in
   * base64 or hex. May be undefined, so that `process.env` fits.
   */
  readonly encryptionKeys?: string | undefined
  /** Whether this process takes part in the database's upkeep; default true. */
  readonly upkeep?: boolean | undefined
  readonly url?: never
}

/** Straight to PostgreSQL, over connections of our own. */
export interface ConnectionOptions extends InProcess {
  /** Such as postgres://user:password@host:5432/database. May be undefined in type, so that `process.env` fits; not in fact. */
  readonly connectionString: string | undefined
  /** Connections in all; default 10. */
  readonly connections?: number | undefined
  readonly pool?: never
}

/** Straight to PostgreSQL, over the application's own `pg` pool. It is not ended by `close`. */
export interface PoolOptions extends InProcess {
  readonly pool: PoolLike
  readonly connectionString?: never
  readonly connections?: never
}

/** A `pg.Pool`, named by shape so that no public type needs the driver's types. */
export interface PoolLike {
  readonly totalCount: number
  connect(): Promise<object>
  end(): Promise<void>
}

export type PostgresOptions = ConnectionOptions | PoolOptions
export type LockstepOptions = HttpOptions | PostgresOptions

/** What the options make of the client. */
export type WayOf<O extends LockstepOptions> = O extends { readonly url: string | readonly string[] }
  ? 'http'
  : 'postgres'

export type { Way }

const answerMs = optional(integer(1, 3_600_000), 30_000)

export function loggerOf(options: Common): Logger {
  return options.logger ?? consoleLogger
}

export function isHttp(options: LockstepOptions): options is HttpOptions {
  const named = (['url', 'connectionString', 'pool'] as const).filter((name) => options?.[name] !== undefined)
  if (named.length > 1) throw new LockstepError('bad_request', `name one of ${named.join(', ')}, not both`)
  if (named[0] !== undefined) return named[0] === 'url'
  const empty = ['url', 'connectionString', 'pool'].find((name) => Object.hasOwn(options ?? {}, name))
  throw new LockstepError(
    'bad_request',
    empty === undefined
      ? 'say where to go: { url } for a broker, { connectionString } or { pool } for PostgreSQL'
      : `${empty} is undefined: is the environment variable set?`,
  )
}

export function httpSettings(options: HttpOptions): HttpSettings {
  const urls = typeof options.url === 'string' ? [options.url] : [...options.url]
  if (urls.length === 0) throw new LockstepError('bad_request', 'url must name at least one broker')
  return {
    addresses: createAddresses([...new Set(urls.map(baseOf))]),
    headers: { ...options.headers },
    token: options.token === undefined ? null : createToken(options.token),
    timeoutMs: answerMs.read(options.timeoutMs, root(), 'timeoutMs'),
  }
}

function baseOf(url: string): string {
  let base: URL
  try {
    base = new URL(url)
  } catch (error) {
    throw new LockstepError('bad_request', `url must be like http://localhost:6632; got '${url}'`, {}, error)
  }
  if (base.protocol !== 'http:' && base.protocol !== 'https:') {
    throw new LockstepError('bad_request', `url must begin with http:// or https://; got '${url}'`)
  }
  return `${base.origin}${base.pathname}`.replace(/\/+$/, '')
}
