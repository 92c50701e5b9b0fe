// Key/value operations as a caller writes them, turned into what travels: values as JSON text, one expiry said on each
// write, an expected version that is a whole number. Shapes are checked here, names by the engine.
import { LockstepError } from '../protocol/errors.ts'
import type { KvOperation } from '../protocol/kv.ts'
import { LIMITS } from '../protocol/limits.ts'
import { expirySeconds, type Expiry } from './expiry.ts'
import { jsonText } from './json-text.ts'

export interface KvGuard {
  /** Only if the key is at this version; 0: only if it does not exist. */
  readonly expect?: number | undefined
  /** A lost write or check rolls the whole call back. */
  readonly required?: boolean | undefined
}

export type KvPutOptions = Expiry & KvGuard
export type KvCreateOptions = Expiry & { readonly required?: boolean | undefined }
export type KvIncrOptions = Expiry & {
  readonly required?: boolean | undefined
  readonly min?: number | undefined
  readonly max?: number | undefined
}
export type KvCheckOptions = { readonly expect: number; readonly required?: boolean | undefined }

export interface KvPrefixOptions {
  /** 1 to 1000; default 100. */
  readonly limit?: number | undefined
  /** Only keys behind this one: the last answer's nextAfter. */
  readonly after?: string | undefined
  readonly keysOnly?: boolean | undefined
}

function refuse(message: string, reason: string): never {
  throw new LockstepError('kv_bad_request', message, { reason })
}

function name(value: unknown, what: string): string {
  return typeof value === 'string' ? value : refuse(`a ${what} must be text`, `kv_bad_${what}`)
}

function expected(expect: unknown): number | null {
  if (expect === undefined || expect === null) return null
  if (typeof expect === 'number' && Number.isSafeInteger(expect) && expect >= 0) return expect
  return refuse(`expect must be a version, or 0 for "must not exist"; got ${JSON.stringify(expect)}`, 'kv_bad_expect')
}

function decimal(value: unknown, what: string): string {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return refuse(`${what} must be a finite number; got ${String(value)}`, `kv_bad_${what}`)
}

export function getOperation(ns: string, key: string): KvOperation {
  return { op: 'get', ns: name(ns, 'namespace'), key: name(key, 'key') }
}

export function getManyOperation(ns: string, keys: readonly string[]): KvOperation {
  if (!Array.isArray(keys)) refuse('getMany takes an array of keys', 'kv_bad_keys')
  return { op: 'getMany', ns: name(ns, 'namespace'), keys: keys.map((key) => name(key, 'key')) }
}

export function getPrefixOperation(ns: string, prefix: string, options: KvPrefixOptions = {}): KvOperation {
  return {
    op: 'getPrefix',
    ns: name(ns, 'namespace'),
    prefix: name(prefix, 'prefix'),
    limit: options.limit ?? LIMITS.kvPrefixLimitDefault,
    after: options.after ?? null,
    keysOnly: options.keysOnly ?? false,
  }
}

export function putOperation(ns: string, key: string, value: unknown, options: KvPutOptions): KvOperation {
  return {
    op: 'put',
    ns: name(ns, 'namespace'),
    key: name(key, 'key'),
    value: jsonText(value, 'value'),
    ttlSeconds: expirySeconds(options),
    expect: expected(options.expect),
    required: options.required ?? false,
  }
}

export function putIfAbsentOperation(ns: string, key: string, value: unknown, options: KvCreateOptions): KvOperation {
  return {
    op: 'putIfAbsent',
    ns: name(ns, 'namespace'),
    key: name(key, 'key'),
    value: jsonText(value, 'value'),
    ttlSeconds: expirySeconds(options),
    expect: null,
    required: options.required ?? false,
  }
}

export function deleteOperation(ns: string, key: string, options: KvGuard = {}): KvOperation {
  return {
    op: 'delete',
    ns: name(ns, 'namespace'),
    key: name(key, 'key'),
    expect: expected(options.expect),
    required: options.required ?? false,
  }
}

export function incrOperation(ns: string, key: string, delta: number, options: KvIncrOptions): KvOperation {
  return {
    op: 'incr',
    ns: name(ns, 'namespace'),
    key: name(key, 'key'),
    delta: decimal(delta, 'delta'),
    min: options?.min === undefined ? null : decimal(options.min, 'min'),
    max: options?.max === undefined ? null : decimal(options.max, 'max'),
    ttlSeconds: expirySeconds(options),
    required: options.required ?? false,
  }
}

export function checkOperation(ns: string, key: string, options: KvCheckOptions): KvOperation {
  const expect = expected(options?.expect)
  if (expect === null) refuse('check needs expect: a version, or 0 for "must not exist"', 'kv_bad_expect')
  return { op: 'check', ns: name(ns, 'namespace'), key: name(key, 'key'), expect, required: options.required ?? false }
}
