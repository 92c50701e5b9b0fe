// The aggregates of a stream: how one begins, takes a value and gives its result. A state is JSON, since it is kept in the database
// between batches; none of these ever holds more than a few numbers or one value.

/** One aggregate over values of type T. `state` is JSON and is never changed in place: `add` gives the next one. */
export interface Aggregate<T, Result, State = unknown> {
  /** Part of the stream's shape: state made by another one is not gone on with. */
  readonly name: string
  start(): State
  add(state: State, value: T): State
  result(state: State): Result
}

/** A number that JSON can carry, or the message is at fault. */
function finite(value: number, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new TypeError(`${name} takes finite numbers; got ${String(value)}`)
}

/** How many values. */
export function count(): Aggregate<unknown, number, number> {
  return { name: 'count', start: () => 0, add: (state) => state + 1, result: (state) => state }
}

export function sum<T>(of: (value: T) => number): Aggregate<T, number, number> {
  return {
    name: 'sum',
    start: () => 0,
    add: (state, value) => state + finite(of(value), 'sum'),
    result: (state) => state,
  }
}

/** The mean of the numbers. */
export function average<T>(of: (value: T) => number): Aggregate<T, number, readonly [total: number, count: number]> {
  return {
    name: 'average',
    start: () => [0, 0],
    add: ([total, n], value) => [total + finite(of(value), 'average'), n + 1],
    result: ([total, n]) => (n === 0 ? 0 : total / n),
  }
}

type Extreme = number | null

function extreme<T>(
  name: string,
  of: (value: T) => number,
  choose: (a: number, b: number) => number,
): Aggregate<T, number, Extreme> {
  return {
    name,
    start: () => null,
    add(state, value) {
      const next = finite(of(value), name)
      return state === null ? next : choose(state, next)
    },
    result: (state) => state ?? 0,
  }
}

export function min<T>(of: (value: T) => number): Aggregate<T, number, Extreme> {
  return extreme('min', of, Math.min)
}

export function max<T>(of: (value: T) => number): Aggregate<T, number, Extreme> {
  return extreme('max', of, Math.max)
}

type Kept<V> = readonly [] | readonly [V]

/** A result is asked for behind at least one value. */
function kept<V>(state: Kept<V>): V {
  const [value] = state
  if (value === undefined) throw new TypeError('an aggregate was asked before its first value')
  return value
}

/** The value that came first, or what `of` takes of it. */
export function first<T, V = T>(of: (value: T) => V): Aggregate<T, V, Kept<V>> {
  return {
    name: 'first',
    start: () => [],
    add: (state, value) => (state.length === 0 ? [of(value)] : state),
    result: kept,
  }
}

/** The value that came last, or what `of` takes of it. */
export function last<T, V = T>(of: (value: T) => V): Aggregate<T, V, Kept<V>> {
  return { name: 'last', start: () => [], add: (_, value) => [of(value)], result: kept }
}
