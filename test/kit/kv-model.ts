// The specification of key/value calls as plain code, written from the rules and not from the SQL: it says what every
// operation of a call must answer, given what was there. Versions are not predicted; `judge` hands out placeholders.
import type { KvLoss, KvOperation } from '../../src/protocol/kv.ts'

export interface Held {
  readonly value: string
  readonly version: number
  readonly expires: boolean
}

export type State = ReadonlyMap<string, Held>

/** What must be answered. A version of -1 - n is the n-th drawn by the call. */
export type Verdict =
  | { readonly kind: 'row'; readonly held: Held | null }
  | { readonly kind: 'rows'; readonly rows: readonly (readonly [string, Held])[]; readonly missing: readonly string[] }
  | { readonly kind: 'write'; readonly applied: boolean; readonly reason: KvLoss | null; readonly held: Held | null }

export type Judged =
  | { readonly ok: true; readonly verdicts: readonly Verdict[]; readonly state: State; readonly drawn: number }
  | { readonly ok: false; readonly failedIndex: number; readonly reason: KvLoss; readonly held: Held | null }

const bytes = (text: string): Buffer => Buffer.from(text)
const idOf = (ns: string, key: string): string => `${ns}\0${key}`

/** Point operations sorted by (ns, key, position), then the reads of many keys. */
export function judge(before: State, call: readonly KvOperation[]): Judged {
  const state = new Map(before)
  const verdicts: Verdict[] = []
  let drawn = 0
  const points = call.flatMap((operation, at) => ('key' in operation ? [{ operation, at }] : []))
  points.sort(
    (a, b) =>
      Buffer.compare(bytes(a.operation.ns), bytes(b.operation.ns)) ||
      Buffer.compare(bytes(a.operation.key), bytes(b.operation.key)) ||
      a.at - b.at,
  )
  for (const { operation, at } of points) {
    const id = idOf(operation.ns, operation.key)
    const held = state.get(id) ?? null
    if (operation.op === 'get') {
      verdicts[at] = { kind: 'row', held }
      continue
    }
    const reason = lossOf(operation, held)
    if (reason !== null) {
      if (operation.required) return { ok: false, failedIndex: at, reason, held }
      verdicts[at] = { kind: 'write', applied: false, reason, held }
      continue
    }
    let after: Held | null = held
    if (operation.op !== 'check') {
      drawn += 1
      if (operation.op === 'delete') state.delete(id)
      else {
        after = { value: valueOf(operation, held), version: -drawn, expires: expiryOf(operation, held) }
        state.set(id, after)
      }
      if (operation.op === 'delete') after = { value: '', version: -drawn, expires: false }
    }
    verdicts[at] = { kind: 'write', applied: true, reason: null, held: after }
  }
  for (const [at, operation] of call.entries()) {
    if (operation.op === 'getMany') {
      const found = operation.keys.map((key) => [key, state.get(idOf(operation.ns, key))] as const)
      verdicts[at] = {
        kind: 'rows',
        rows: found.flatMap(([key, held]) => (held ? [[key, held] as const] : [])),
        missing: found.flatMap(([key, held]) => (held ? [] : [key])),
      }
    } else if (operation.op === 'getPrefix') {
      const start = idOf(operation.ns, operation.prefix)
      const rows = [...state]
        .filter(([id]) => id.startsWith(start))
        .map(([id, held]) => [id.slice(operation.ns.length + 1), held] as const)
        .toSorted(([a], [b]) => Buffer.compare(bytes(a), bytes(b)))
      verdicts[at] = { kind: 'rows', rows, missing: [] }
    }
  }
  return { ok: true, verdicts, state, drawn }
}

type Write = Exclude<Extract<KvOperation, { key: string }>, { op: 'get' }>

function lossOf(operation: Write, held: Held | null): KvLoss | null {
  if (operation.op === 'incr') {
    const number = counted(held?.value ?? '0')
    if (number === null) return 'type'
    const next = number + BigInt(operation.delta)
    const over = operation.max !== null && next > BigInt(operation.max)
    return over || (operation.min !== null && next < BigInt(operation.min)) ? 'limit' : null
  }
  const expect = operation.op === 'putIfAbsent' ? 0 : operation.expect
  if (expect === 0 && held !== null) return 'exists'
  if (held === null && (operation.op === 'delete' || (expect !== null && expect > 0))) return 'absent'
  return expect !== null && expect > 0 && held !== null && held.version !== expect ? 'version' : null
}

function valueOf(operation: Write, held: Held | null): string {
  if (operation.op === 'incr') return String((counted(held?.value ?? '0') ?? 0n) + BigInt(operation.delta))
  return 'value' in operation ? operation.value : ''
}

function expiryOf(operation: Write, held: Held | null): boolean {
  if (operation.op === 'incr' && held !== null) return held.expires
  return 'ttlSeconds' in operation && operation.ttlSeconds !== null
}

const counted = (value: string): bigint | null => (/^-?(0|[1-9][0-9]*)$/.test(value) ? BigInt(value) : null)
