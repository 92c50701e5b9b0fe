// What a stream remembers of one partition, while it is worked on: read from the database when it is first needed, changed in memory,
// and handed to the cycle that commits it. It is thrown away with its batch: the next one reads anew, whoever works on it.
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { isRecord } from '../../protocol/check.ts'
import type { StateChange } from '../../protocol/stream.ts'
import { utf8Length } from '../../protocol/utf8.ts'
import { jsonText } from '../../protocol/json-text.ts'
import type { StreamCalls } from './stream-calls.ts'

/** A window or a session, open or over. Instants are epoch milliseconds. */
export interface WindowRow {
  readonly windowStart: number
  /** Read by the database too, which finds by it what is over. */
  readonly windowEnd: number
  readonly key: string
  readonly acc: unknown
}

const SEPARATOR = '\u001f'
/** The instant up to which fixed windows are closed. */
export const FLOOR_KEY = 'f'
export const windowKey = (start: number, key: string): string => ['w', start, key].join(SEPARATOR)
/** The session that a key's next message may go on with. */
export const sessionKey = (key: string): string => ['s', key].join(SEPARATOR)
/** One that is over and waits out its grace. */
export const pastSessionKey = (start: number, key: string): string => ['p', start, key].join(SEPARATOR)
export const runningKey = (key: string): string => ['k', key].join(SEPARATOR)
export const gateKey = (key: string): string => ['g', key].join(SEPARATOR)

export function asWindow(value: unknown): WindowRow | null {
  if (!isRecord(value)) return null
  const { windowStart, windowEnd, key, acc } = value
  if (typeof windowStart !== 'number' || typeof windowEnd !== 'number' || typeof key !== 'string') return null
  return { windowStart, windowEnd, key, acc }
}

const KEYS_PER_READ = 1_000
const WINDOWS_PER_READ = 2_000

export interface PartitionState {
  /** Reads what of these was not read yet. */
  need(keys: Iterable<string>): Promise<void>
  /** Of a key that was needed; undefined: nothing is remembered. */
  get(key: string): unknown
  set(key: string, value: unknown): void
  delete(key: string): void
  /** Reads windows that are over at this instant; true when there are more of them. What is in memory already stands as it is there. */
  needOver(at: number): Promise<boolean>
  /** The windows in memory that are over, the oldest first. */
  over(at: number): readonly (readonly [stateKey: string, row: WindowRow])[]
  /** For the cycle. */
  changes(): readonly StateChange[]
}

function changeOf(key: string, value: unknown): StateChange {
  if (value === undefined) return { key, value: null, windowEnd: null }
  const text = jsonText(value, 'state')
  if (text.length * 3 > LIMITS.streamStateValueBytes && utf8Length(text) > LIMITS.streamStateValueBytes) {
    const [, ...name] = key.split(SEPARATOR)
    throw new LockstepError(
      'payload_too_large',
      `what the stream remembers of '${name.at(-1) ?? ''}' is larger than ${LIMITS.streamStateValueBytes} bytes`,
      { key },
    )
  }
  return { key, value: text, windowEnd: asWindow(value)?.windowEnd ?? null }
}

export function partitionState(
  calls: Pick<StreamCalls, 'state'>,
  place: { readonly queryId: number; readonly partitionId: string },
): PartitionState {
  const values = new Map<string, unknown>()
  const changed = new Set<string>()

  return {
    async need(keys) {
      const missing = [...new Set(keys)].filter((key) => !values.has(key))
      const pages: string[][] = []
      for (let at = 0; at < missing.length; at += KEYS_PER_READ) pages.push(missing.slice(at, at + KEYS_PER_READ))
      for (const page of pages) {
        const rows = await calls.state({ ...place, keys: page, prefix: null, ripeAt: null, limit: null })
        const found = new Map(rows.map(({ key, value }): [string, unknown] => [key, JSON.parse(value)]))
        for (const key of page) values.set(key, found.get(key))
      }
    },
    get: (key) => values.get(key),
    set(key, value) {
      values.set(key, value)
      changed.add(key)
    },
    delete(key) {
      values.set(key, undefined)
      changed.add(key)
    },
    async needOver(at) {
      const rows = await calls.state({ ...place, keys: [], prefix: null, ripeAt: at, limit: WINDOWS_PER_READ })
      for (const { key, value } of rows) if (!values.has(key)) values.set(key, JSON.parse(value))
      return rows.length === WINDOWS_PER_READ
    },
    over(at) {
      const found: [string, WindowRow][] = []
      for (const [key, value] of values) {
        const row = key === FLOOR_KEY ? null : asWindow(value)
        if (row !== null && row.windowEnd <= at) found.push([key, row])
      }
      return found.toSorted(
        ([a, x], [b, y]) => x.windowEnd - y.windowEnd || x.windowStart - y.windowStart || (a < b ? -1 : 1),
      )
    },
    changes: () => [...changed].map((key) => changeOf(key, values.get(key))),
  }
}

export function floorIn(state: PartitionState): number {
  const value = state.get(FLOOR_KEY)
  const floor: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'floor') : null
  return typeof floor === 'number' ? floor : -Infinity
}
