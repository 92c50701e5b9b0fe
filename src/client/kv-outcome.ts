// Key/value answers as a caller reads them: parsed values, and a verdict that says which way it went. A missing key is
// `{ found: false, version: 0 }`, so that `expect: entry.version` means "must not exist".
import { LockstepError } from '../protocol/errors.ts'
import type { KvLoss, KvResult, KvRow } from '../protocol/kv.ts'
import type { Untyped } from './untyped.ts'

export type KvEntry<V> =
  | {
      readonly found: true
      readonly key: string
      readonly value: V
      readonly version: number
      readonly expiresAt: string | null
      readonly updatedAt: string
    }
  | { readonly found: false; readonly key: string; readonly value?: undefined; readonly version: 0 }

export type KvFound<V> = Extract<KvEntry<V>, { readonly found: true }>

export interface KvMany<V> {
  readonly entries: readonly KvFound<V>[]
  readonly missing: readonly string[]
  /** The call's read budget was spent; the keys not answered are in neither list. */
  readonly truncated: boolean
}

export interface KvPage<V> {
  readonly entries: readonly KvFound<V>[]
  readonly truncated: boolean
  /** Where the next page begins, as `after`; null at the end. */
  readonly nextAfter: string | null
}

export interface KvLost<V> {
  readonly applied: false
  readonly key: string
  readonly reason: KvLoss
  /** What stands there now; undefined when nothing does. */
  readonly value: V | undefined
  readonly version: number
}

/** A write: what stands there now, whichever way it went. */
export type KvWritten<V> =
  | { readonly applied: true; readonly key: string; readonly value: V; readonly version: number }
  | KvLost<V>

/** A delete or a check: the version that was judged. */
export type KvJudged<V> = { readonly applied: true; readonly key: string; readonly version: number } | KvLost<V>

/** Any operation's outcome inside a commit. */
export type KvOutcome<V> =
  | ({ readonly op: 'get' } & KvEntry<V>)
  | ({ readonly op: 'getMany' } & KvMany<V>)
  | ({ readonly op: 'put' | 'putIfAbsent' | 'incr' } & KvWritten<V>)
  | ({ readonly op: 'delete' | 'check' } & KvJudged<V>)

function parsed(text: string | null): Untyped {
  return text === null ? undefined : JSON.parse(text)
}

function found(row: KvRow): KvFound<Untyped> {
  return {
    found: true,
    key: row.key,
    value: parsed(row.value),
    version: row.version,
    expiresAt: row.expiresAt,
    updatedAt: row.updatedAt,
  }
}

function unexpected(result: KvResult, wanted: string): never {
  throw new LockstepError('internal', `the answer to ${wanted} was one to ${result.op}`)
}

export function entryOf(result: KvResult): KvEntry<Untyped> {
  if (result.op !== 'get') return unexpected(result, 'get')
  return result.found ? found(result.row) : { found: false, key: result.key, version: 0 }
}

export function manyOf(result: KvResult): KvMany<Untyped> {
  if (result.op !== 'getMany') return unexpected(result, 'getMany')
  return { entries: result.rows.map(found), missing: result.missing, truncated: result.truncated }
}

export function pageOf(result: KvResult): KvPage<Untyped> {
  if (result.op !== 'getPrefix') return unexpected(result, 'getPrefix')
  return { entries: result.rows.map(found), truncated: result.truncated, nextAfter: result.nextAfter }
}

type Verdict = Extract<KvResult, { readonly applied: boolean }>

function lost(key: string, reason: KvLoss, value: string | null, version: number | null): KvLost<Untyped> {
  // On the wire both "nothing is there" and a stored null are null; the reason tells them apart.
  return { applied: false, key, reason, value: reason === 'absent' ? undefined : parsed(value), version: version ?? 0 }
}

function verdict(result: Verdict): KvWritten<Untyped> {
  if (!result.applied) return lost(result.key, result.reason ?? 'version', result.value, result.version)
  return { applied: true, key: result.key, value: parsed(result.value), version: result.version ?? 0 }
}

export function writtenOf(result: KvResult): KvWritten<Untyped> {
  return 'applied' in result ? verdict(result) : unexpected(result, 'a write')
}

export function judgedOf(result: KvResult): KvJudged<Untyped> {
  if (!('applied' in result)) return unexpected(result, 'a delete or check')
  const judged = verdict(result)
  return judged.applied ? { applied: true, key: judged.key, version: judged.version } : judged
}

/** A required operation that lost, alone in its call. */
export function lostAlone(
  key: string,
  kvReason: KvLoss,
  value: string | null,
  version: number | null,
): KvLost<Untyped> {
  return lost(key, kvReason, value, version)
}

export function kvOutcome(result: KvResult): KvOutcome<Untyped> {
  if (result.op === 'get') return { op: result.op, ...entryOf(result) }
  if (result.op === 'getMany') return { op: result.op, ...manyOf(result) }
  if (result.op === 'getPrefix') return unexpected(result, 'a step, which has no getPrefix')
  if (result.op === 'delete' || result.op === 'check') return { op: result.op, ...judgedOf(result) }
  return { op: result.op, ...writtenOf(result) }
}
