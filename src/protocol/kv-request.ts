// Decodes key/value operations, for the kv route and for transactions. Values and the numbers of `incr` stay the text they
// came as. Every fault has the wire's own shape: the code is the error, `reason` (kv_…) says which part was wrong.
import { boolean, integer, oneOf, optional, readFields, text } from './check.ts'
import type { Place } from './check.ts'
import { LockstepError } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { CUT, inArray, inObject } from './json-slices.ts'
import type { Piece, Shape } from './json-slices.ts'
import type { KvOperation } from './kv.ts'
import { LIMITS } from './limits.ts'
import { kvKey, kvKeys, kvNamespace, requestIdText } from './names.ts'
import { pieceOf, recordOf } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { becauseOf, eitherOf, operationsBody } from './operations-body.ts'
import { utf8Length } from './utf8.ts'

export interface KvRequest {
  readonly requestId: string | null
  readonly operations: readonly KvOperation[]
}

export interface KvBounds {
  readonly operations: number
  readonly keys: number
  /** getPrefix is for reads outside of transactions. */
  readonly prefix: boolean
}

export const KV_ROUTE: KvBounds = { operations: LIMITS.kvOperations, keys: LIMITS.kvGetManyKeys, prefix: true }
export const KV_IN_TRANSACTION: KvBounds = {
  operations: LIMITS.transactionKvOperations,
  keys: LIMITS.transactionKvKeys,
  prefix: false,
}

export const KV_SHAPE: Shape = inArray(inObject({ value: CUT, delta: CUT, min: CUT, max: CUT }))

export const kvFault = (reason: string, detail: string, code: ErrorCode = 'kv_bad_request'): LockstepError =>
  new LockstepError(code, detail, { reason })

const because = becauseOf(kvFault)

const NS = because('kv_bad_ns', kvNamespace)
const KEY = because('kv_bad_key', kvKey)
const EXPECT = because('kv_bad_expect', optional(integer(0, Number.MAX_SAFE_INTEGER), null))
const REQUIRED = because('kv_bad_required', optional(boolean, false))
const TTL = because('kv_bad_ttl', optional(integer(1, LIMITS.ttlSeconds), null))
const FOREVER = because('kv_bad_forever', optional(boolean, false))

export const KV_FIELDS = {
  op: because('kv_unknown_op', oneOf('get', 'getMany', 'getPrefix', 'put', 'putIfAbsent', 'delete', 'incr', 'check')),
  get: { ns: NS, key: KEY },
  getMany: { ns: NS, keys: because('kv_bad_keys', kvKeys) },
  getPrefix: {
    ns: NS,
    prefix: because('kv_bad_prefix', text({ min: 1, max: LIMITS.kvKeyBytes })),
    limit: because('kv_bad_limit', optional(integer(1, Number.MAX_SAFE_INTEGER), LIMITS.kvPrefixLimitDefault)),
    after: because('kv_bad_after', optional(text({ max: LIMITS.kvKeyBytes }), null)),
    keysOnly: because('kv_bad_keys_only', optional(boolean, false)),
  },
  put: { ns: NS, key: KEY, expect: EXPECT, required: REQUIRED, ttlSeconds: TTL, forever: FOREVER },
  delete: { ns: NS, key: KEY, expect: EXPECT, required: REQUIRED },
  incr: { ns: NS, key: KEY, required: REQUIRED, ttlSeconds: TTL, forever: FOREVER },
  check: {
    ns: NS,
    key: KEY,
    expect: because('kv_bad_expect', integer(0, Number.MAX_SAFE_INTEGER)),
    required: REQUIRED,
  },
} as const

export const KV_REQUEST_ID = { requestId: because('kv_bad_request_id', optional(requestIdText, null)) } as const

const SHAPE = eitherOf(KV_SHAPE)

export function decodeKv(body: RequestBody): KvRequest {
  const { requestId, elements, pieces, place } = operationsBody(body, SHAPE, KV_REQUEST_ID, kvFault, 'kv_bad_body')
  return { requestId, operations: kvOperations(elements, pieces, KV_ROUTE, place) }
}

export function kvOperations(
  elements: readonly unknown[],
  pieces: readonly Piece[],
  bounds: KvBounds,
  place: Place,
): readonly KvOperation[] {
  if (elements.length > bounds.operations) {
    throw kvFault('kv_too_many_ops', `at most ${bounds.operations} operations in one call`)
  }
  const at: Place = { parent: place, step: 0 }
  const operations = elements.map((element, index) => {
    at.step = index
    return kvOperation(element, pieces, at)
  })
  judgeCall(operations, bounds)
  return operations
}

/** Rules over the whole call: a key is written once, reads stay within their bound. */
function judgeCall(operations: readonly KvOperation[], bounds: KvBounds): void {
  const written = new Set<string>()
  let keys = 0
  for (const operation of operations) {
    if (operation.op === 'getPrefix') {
      if (!bounds.prefix) throw kvFault('kv_unknown_op', 'getPrefix is not available in a transaction')
    } else if (operation.op === 'getMany') keys += operation.keys.length
    else if (operation.op !== 'get' && operation.op !== 'check') {
      const row = `${operation.ns}\0${operation.key}`
      if (written.has(row)) {
        throw kvFault(
          'kv_duplicate_key_in_call',
          `key '${operation.key}' of '${operation.ns}' is written twice in one call`,
          'kv_duplicate_key_in_call',
        )
      }
      written.add(row)
    }
  }
  if (keys > bounds.keys) throw kvFault('kv_too_many_keys', `at most ${bounds.keys} keys in one call`)
}

function kvOperation(element: unknown, pieces: readonly Piece[], at: Place): KvOperation {
  let source: Readonly<Record<string, unknown>>
  try {
    source = recordOf(element, at)
  } catch {
    throw kvFault('kv_bad_op', 'an operation must be an object')
  }
  if (Object.hasOwn(source, 'tenant')) throw kvFault('kv_tenant_field', 'tenant is not a field of an operation')
  const op = KV_FIELDS.op.read(source['op'], at, 'op')
  switch (op) {
    case 'get':
      return { op, ...readFields(KV_FIELDS.get, source, at) }
    case 'getMany':
      return { op, ...readFields(KV_FIELDS.getMany, source, at) }
    case 'getPrefix': {
      const fields = readFields(KV_FIELDS.getPrefix, source, at)
      return { op, ...fields, limit: Math.min(fields.limit, LIMITS.kvPrefixLimit) }
    }
    case 'put':
    case 'putIfAbsent': {
      const { ns, key, expect, required, ttlSeconds, forever } = readFields(KV_FIELDS.put, source, at)
      if (op === 'putIfAbsent' && expect !== null && expect !== 0) {
        throw kvFault('kv_bad_expect', 'putIfAbsent expects 0 by its name')
      }
      const value = kvValue(pieceOf(pieces, source, 'value'))
      return { op, ns, key, value, ttlSeconds: expiry(ttlSeconds, forever), expect, required }
    }
    case 'delete':
      return { op, ...readFields(KV_FIELDS.delete, source, at) }
    case 'incr': {
      const { ns, key, required, ttlSeconds, forever } = readFields(KV_FIELDS.incr, source, at)
      const delta = decimal(pieceOf(pieces, source, 'delta'), 'delta')
      if (delta === null) throw kvFault('kv_bad_delta', 'incr needs a delta')
      const min = decimal(pieceOf(pieces, source, 'min'), 'min')
      const max = decimal(pieceOf(pieces, source, 'max'), 'max')
      return { op, ns, key, delta, min, max, ttlSeconds: expiry(ttlSeconds, forever), required }
    }
    case 'check':
      return { op, ...readFields(KV_FIELDS.check, source, at) }
  }
}

/** Exactly one of a ttl and `forever`; null is forever. */
function expiry(ttlSeconds: number | null, forever: boolean): number | null {
  if ((ttlSeconds !== null) === forever) {
    throw kvFault('kv_expiry_not_specified', 'exactly one of ttlSeconds and forever: true must be given')
  }
  return ttlSeconds
}

function kvValue(piece: Piece | null): string {
  if (piece === null) throw kvFault('kv_bad_value', 'value must be present: any JSON value')
  if (piece.fault !== null) throw kvFault('kv_bad_value', `value must be ${piece.fault}`)
  if (piece.text.length * 3 > LIMITS.kvValueBytes && utf8Length(piece.text) > LIMITS.kvValueBytes) {
    throw kvFault('kv_value_too_large', `value must be at most ${LIMITS.kvValueBytes} bytes`, 'payload_too_large')
  }
  return piece.text
}

/** A JSON number as text. Bounded, so that exact arithmetic on it stays cheap. */
function decimal(piece: Piece | null, name: string): string | null {
  if (piece === null || piece.text === 'null') return null
  const match = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?([0-9]+))?$/.exec(piece.text)
  if (!match || piece.text.length > 64 || Number(match[1] ?? 0) > 300) {
    throw kvFault(`kv_bad_${name}`, `${name} must be a number of at most 64 characters, exponent up to 300`)
  }
  return piece.text
}
