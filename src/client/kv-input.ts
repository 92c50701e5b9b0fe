// Key/value operations as a caller writes them, turned into what travels: values as JSON text, one expiry said on each
// write, an expected version that is a whole number. Shapes are checked here, names by the engine.
import { integer, optional, root, text, type Field } from '../protocol/check.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { KvOperation } from '../protocol/kv.ts'
import { LIMITS } from '../protocol/limits.ts'
import { kvKey, kvKeys, kvNamespace } from '../protocol/names.ts'
import { utf8Length } from '../protocol/utf8.ts'
import { expirySeconds, type Expiry } from './expiry.ts'
import { jsonText } from '../protocol/json-text.ts'

const prefixText = text({ min: 1, max: LIMITS.kvKeyBytes })
const afterText = optional(text({ max: LIMITS.kvKeyBytes }), null)
const pageSize = optional(integer(1, LIMITS.kvPrefixLimit), LIMITS.kvPrefixLimitDefault)

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

/** A field's own check, its fault told in the way of key/value operations. */
function checked<T>(field: Field<T>, value: unknown, what: string, reason: string): T {
  try {
    return field.read(value, root(), what)
  } catch (error) {
    return error instanceof LockstepError ? refuse(error.message, reason) : refuse(`${what} is wrong`, reason)
  }
}

const nsOf = (ns: unknown): string => checked(kvNamespace, ns, 'ns', 'kv_bad_ns')
const keyOf = (key: unknown): string => checked(kvKey, key, 'key', 'kv_bad_key')

function valueText(value: unknown): string {
  const json = jsonText(value, 'value')
  if (json.length * 3 > LIMITS.kvValueBytes && utf8Length(json) > LIMITS.kvValueBytes) {
    throw new LockstepError('payload_too_large', `value must be at most ${LIMITS.kvValueBytes} bytes`, {
      reason: 'kv_value_too_large',
    })
  }
  return json
}

function expected(expect: unknown): number | null {
  if (expect === undefined || expect === null) return null
  if (typeof expect === 'number' && Number.isSafeInteger(expect) && expect >= 0) return expect
  return refuse(`expect must be a version, or 0 for "must not exist"; got ${JSON.stringify(expect)}`, 'kv_bad_expect')
}

function decimal(value: unknown, what: string): string {
  if (typeof value === 'number' && Math.abs(value) < 1e300) return String(value)
  return refuse(`${what} must be a number below 1e300; got ${String(value)}`, `kv_bad_${what}`)
}

export function getOperation(ns: string, key: string): KvOperation {
  return { op: 'get', ns: nsOf(ns), key: keyOf(key) }
}

export function getManyOperation(ns: string, keys: readonly string[]): KvOperation {
  return { op: 'getMany', ns: nsOf(ns), keys: checked(kvKeys, keys, 'keys', 'kv_bad_keys') }
}

export function getPrefixOperation(ns: string, prefix: string, options: KvPrefixOptions = {}): KvOperation {
  return {
    op: 'getPrefix',
    ns: nsOf(ns),
    prefix: checked(prefixText, prefix, 'prefix', 'kv_bad_prefix'),
    limit: checked(pageSize, options.limit, 'limit', 'kv_bad_limit'),
    after: checked(afterText, options.after, 'after', 'kv_bad_after'),
    keysOnly: options.keysOnly ?? false,
  }
}

export function putOperation(ns: string, key: string, value: unknown, options: KvPutOptions): KvOperation {
  return {
    op: 'put',
    ns: nsOf(ns),
    key: keyOf(key),
    value: valueText(value),
    ttlSeconds: expirySeconds(options),
    expect: expected(options.expect),
    required: options.required ?? false,
  }
}

export function putIfAbsentOperation(ns: string, key: string, value: unknown, options: KvCreateOptions): KvOperation {
  return {
    op: 'putIfAbsent',
    ns: nsOf(ns),
    key: keyOf(key),
    value: valueText(value),
    ttlSeconds: expirySeconds(options),
    expect: null,
    required: options.required ?? false,
  }
}

export function deleteOperation(ns: string, key: string, options: KvGuard = {}): KvOperation {
  return {
    op: 'delete',
    ns: nsOf(ns),
    key: keyOf(key),
    expect: expected(options.expect),
    required: options.required ?? false,
  }
}

export function incrOperation(ns: string, key: string, delta: number, options: KvIncrOptions): KvOperation {
  return {
    op: 'incr',
    ns: nsOf(ns),
    key: keyOf(key),
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
  return { op: 'check', ns: nsOf(ns), key: keyOf(key), expect, required: options.required ?? false }
}

const HARMLESS: ReadonlySet<KvOperation['op']> = new Set(['get', 'getMany', 'getPrefix', 'check'])

/** True when the call may arrive twice: a write that did could undo what came between. */
export function writesNothing(operations: readonly KvOperation[]): boolean {
  return operations.every(({ op }) => HARMLESS.has(op))
}
