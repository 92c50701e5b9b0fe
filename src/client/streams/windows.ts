// Windows of a stream as arithmetic on epoch milliseconds: which ones an instant belongs to. They stand on the epoch in UTC, so
// every runner cuts time at the same instants; a session reaches from its first message to `gap` behind its last.
import { refuse, root } from '../../protocol/check.ts'
import { durationMs } from '../../protocol/durations.ts'
import type { Ttl } from '../expiry.ts'

export interface WindowOptions<T> {
  /** A new window begins this often; default: the size, so that windows do not overlap. */
  readonly every?: Ttl | undefined
  /** How long after its end a window waits for stragglers; default '1s'. */
  readonly grace?: Ttl | '0s' | undefined
  /** When it happened: a Date, epoch milliseconds or ISO text. Default: when the message was stored, by the database's clock. */
  readonly time?: ((value: T) => Date | number | string) | undefined
  /** A message whose windows are closed counts in the one that is open (`next`, the default), or is left out. Both are told to `onLate`. */
  readonly late?: 'next' | 'drop' | undefined
}

export type SessionOptions<T> = Omit<WindowOptions<T>, 'every'>

export interface WindowPlan {
  readonly kind: 'fixed' | 'session'
  /** Length, or the gap that ends a session. */
  readonly sizeMs: number
  readonly everyMs: number
  readonly graceMs: number
  readonly time: ((value: unknown) => Date | number | string) | null
  readonly late: 'next' | 'drop'
}

/** Every message is folded into each of them. */
const MOST_OVERLAPPING = 100

export function windowPlan<T>(kind: WindowPlan['kind'], size: string, options: WindowOptions<T>): WindowPlan {
  const what = kind === 'fixed' ? 'window' : 'session'
  if (typeof size !== 'string') refuse(root(), what, "text such as '1m'")
  const sizeMs = durationMs(size, what)
  const everyMs = options.every === undefined ? sizeMs : durationMs(options.every, 'every')
  if (everyMs > sizeMs || sizeMs / everyMs > MOST_OVERLAPPING) {
    refuse(root(), 'every', `at most the size of the window, and at least a ${MOST_OVERLAPPING}th of it`)
  }
  const { grace = '1s', time = null, late = 'next' } = options
  if (late !== 'next' && late !== 'drop') refuse(root(), 'late', "'next' or 'drop'")
  if (time !== null && typeof time !== 'function') refuse(root(), 'time', 'a function')
  const graceMs = grace === '0s' ? 0 : durationMs(grace, 'grace')
  return {
    kind,
    sizeMs,
    everyMs,
    graceMs,
    late,
    // The builder's types have seen to it that it is asked with the values it takes.
    time: time === null ? null : (value) => Reflect.apply(time, undefined, [value]),
  }
}

/** Where the fixed windows that hold the instant begin, the earliest first. */
export function startsOf({ sizeMs, everyMs }: WindowPlan, at: number): readonly number[] {
  const starts: number[] = []
  for (let start = Math.floor(at / everyMs) * everyMs; start > at - sizeMs; start -= everyMs) starts.unshift(start)
  return starts
}

export function instantMs(value: Date | number | string): number {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : value
  if (typeof ms === 'number' && Number.isFinite(ms) && Math.abs(ms) <= 8.64e15) return Math.floor(ms)
  throw new TypeError(`time must give a Date, epoch milliseconds or ISO text; got ${String(value)}`)
}
