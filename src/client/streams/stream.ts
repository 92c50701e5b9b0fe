// The grammar of a stream: a value declared once, by its name, its source, what is done with each message, what is remembered of them,
// and where the results go. Every word returns a new builder; `to` ends the sentence, and `lockstep.stream(…).start()` runs it.
import { refuse, root, text } from '../../protocol/check.ts'
import { jsonText } from '../../protocol/json-text.ts'
import { LIMITS } from '../../protocol/limits.ts'
import type { Ttl } from '../expiry.ts'
import { definitionOf, type QueueDefinition } from '../queue-definition.ts'
import type { Untyped } from '../untyped.ts'
import type { Aggregate } from './aggregates.ts'
import { runStream, type RunningStream, type StreamOptions, type StreamPorts } from './run-stream.ts'
import type { Folding, ResultAt, SourceAt, StreamPlan } from './stream-plan.ts'
import { windowPlan, type SessionOptions, type WindowOptions, type WindowPlan } from './windows.ts'

export interface StreamDefinition {
  readonly name: string
  /** Called by `lockstep.stream(definition).start(options)`. */
  begin(ports: StreamPorts, options: StreamOptions): Promise<RunningStream>
}

export interface SinkOptions<T> {
  /** Default: the partition of the source that the result comes from. */
  readonly partition?: ((value: T, at: ResultAt) => string) | undefined
}

/** A queue that takes what the stream gives. */
export type Fitting<T, In, Out> = QueueDefinition<string, In, Out> &
  ([T] extends [In] ? unknown : { readonly ERROR: 'the results of the stream do not fit the queue' })

/** What has somewhere to go. */
export interface Sinkable<T> {
  /** Where results are pushed, in the commit of what they come from. */
  to(queue: string, options?: SinkOptions<T>): StreamDefinition
  to<In, Out>(queue: Fitting<T, In, Out>, options?: SinkOptions<T>): StreamDefinition
}

/** Results: nothing is remembered behind here. */
export interface Results<T> extends Sinkable<T> {
  filter(keep: (value: T, at: ResultAt) => boolean | Promise<boolean>): Results<T>
  map<R>(change: (value: T, at: ResultAt) => R): Results<Awaited<R>>
  flatMap<R>(spread: (value: T, at: ResultAt) => Iterable<R> | Promise<Iterable<R>>): Results<R>
}

/** Of a window; an instant is ISO-8601 UTC. */
export interface WindowPlace {
  readonly windowStart: string
  readonly windowEnd: string
}

/** Of `keyBy`; without one, the partition of the source. */
export interface KeyPlace {
  readonly key: string
}

type Aggregates<T> = Readonly<Record<string, Aggregate<T, unknown>>>
type Totals<A> = { readonly [K in keyof A]: A[K] extends { result(state: never): infer R } ? R : never }
type Flat<T> = { readonly [K in keyof T]: T[K] }

export interface Foldable<T, Place> {
  /** Emits the aggregates of each key beside its key: of a window when it closes, without a window after each message. */
  aggregate<const A extends Aggregates<T>>(aggregates: A): Results<Flat<Place & Totals<A>>>
  /**
   * The same with a state of your own, which is JSON of at most 1 MiB. Give the next one and leave the given one as it is; a function
   * that throws fails its message.
   */
  reduce<S>(initial: S, next: (state: S, value: T, at: SourceAt) => S): Results<Flat<Place & { readonly value: S }>>
}

export interface Gated<T> extends Foldable<T, KeyPlace>, Results<T> {
  /** Windows of this length, from the epoch on in UTC: '1m', '1h'. With `every` they overlap. */
  window(size: Ttl, options?: WindowOptions<T>): Foldable<T, KeyPlace & WindowPlace>
  /** A window per key that ends when nothing came for this long. */
  session(gap: Ttl, options?: SessionOptions<T>): Foldable<T, KeyPlace & WindowPlace>
}

export interface Keyed<T> extends Gated<T> {
  /**
   * Lets a value through or stops in front of it: `decide` gives the next state of the key (true keeps it), or false. A message that is
   * stopped stays in the queue with all behind it in its partition, and is asked for again within about a second.
   */
  gate<S>(
    initial: S,
    decide: (state: S, value: T, at: SourceAt & ResultAt) => S | boolean | Promise<S | boolean>,
  ): Gated<T>
}

export interface Stream<T> extends Omit<Keyed<T>, 'filter' | 'map' | 'flatMap'> {
  filter(keep: (value: T, at: SourceAt) => boolean | Promise<boolean>): Stream<T>
  map<R>(change: (value: T, at: SourceAt) => R): Stream<Awaited<R>>
  flatMap<R>(spread: (value: T, at: SourceAt) => Iterable<R> | Promise<Iterable<R>>): Stream<R>
  /**
   * What belongs together. State is kept per partition of the source and key: what is pushed to several partitions is counted in
   * several states.
   */
  keyBy(key: (value: T, at: SourceAt) => string | number): Keyed<T>
}

export interface StreamSettings {
  /** Say another one when the functions mean something else: state of the old meaning is not gone on with. */
  readonly version?: string | number | undefined
}

const PLACES: ReadonlySet<string> = new Set(['key', 'windowStart', 'windowEnd'])
const streamName = text({ min: 1, max: LIMITS.nameBytes - 'streams.'.length })

function callable<F>(given: F, name: string): F {
  return typeof given === 'function' ? given : refuse(root(), name, 'a function')
}

type Filter<At> = (value: Untyped, at: At) => boolean | Promise<boolean>
type Change<At> = (value: Untyped, at: At) => unknown
type Spread<At> = (value: Untyped, at: At) => Iterable<unknown> | Promise<Iterable<unknown>>

/** The three words that stand before and behind what is remembered. */
function operators<At, Self>(add: (operator: (value: unknown, at: At) => Promise<readonly unknown[]>) => Self) {
  return {
    filter(keep: Filter<At>): Self {
      callable(keep, 'filter')
      return add(async (value, at) => ((await keep(value, at)) ? [value] : []))
    },
    map(change: Change<At>): Self {
      callable(change, 'map')
      return add(async (value, at) => [await change(value, at)])
    },
    flatMap(spread: Spread<At>): Self {
      callable(spread, 'flatMap')
      return add(async (value, at) => [...(await spread(value, at))])
    },
  }
}

function sinkOver(plan: StreamPlan) {
  return {
    to(
      queue: string | QueueDefinition<string, Untyped, Untyped>,
      { partition }: SinkOptions<Untyped> = {},
    ): StreamDefinition {
      const sink = {
        definition: definitionOf(queue),
        partition: partition === undefined ? null : callable(partition, 'partition'),
      }
      const whole: StreamPlan = { ...plan, sink }
      return Object.freeze({
        name: plan.name,
        begin: async (ports: StreamPorts, options: StreamOptions) => runStream(whole, ports, options),
      })
    },
  }
}

function resultsOver(plan: StreamPlan): Results<Untyped> {
  const add = operators<ResultAt, Results<Untyped>>((operator) =>
    resultsOver({ ...plan, after: [...plan.after, operator] }),
  )
  return { ...add, ...sinkOver(plan) }
}

function aggregating(aggregates: Aggregates<Untyped>): Folding {
  const entries = Object.entries(aggregates ?? {})
  if (entries.length === 0) refuse(root(), 'aggregate', 'an object with at least one aggregate')
  for (const [name, aggregate] of entries) {
    if (typeof aggregate?.add !== 'function') refuse(root(), `aggregate.${name}`, 'an aggregate, such as count()')
    if (PLACES.has(name))
      refuse(root(), `aggregate.${name}`, 'called otherwise: key, windowStart and windowEnd are taken')
  }
  const states = (state: unknown): readonly unknown[] => (Array.isArray(state) ? state : [])
  return {
    start: () => entries.map(([, aggregate]) => aggregate.start()),
    add: (state, value) => entries.map(([, aggregate], at) => aggregate.add(states(state)[at], value)),
    result: (state) =>
      Object.fromEntries(entries.map(([name, aggregate], at) => [name, aggregate.result(states(state)[at])])),
    shape: entries.map(([name, aggregate]) => [name, aggregate.name]),
  }
}

function reducing(initial: unknown, next: (state: Untyped, value: Untyped, at: SourceAt) => unknown): Folding {
  callable(next, 'reduce')
  const begin = jsonText(initial, 'initial')
  return {
    start: (): unknown => JSON.parse(begin),
    add: (state, value, at) => next(state, value, at),
    result: (state) => ({ value: state }),
    shape: 'reduce',
  }
}

function foldableOver(plan: StreamPlan): Foldable<Untyped, Untyped> {
  const remember = (folding: Folding): Results<Untyped> => resultsOver({ ...plan, folding })
  return {
    aggregate: (aggregates: Aggregates<Untyped>): Results<Untyped> => remember(aggregating(aggregates)),
    reduce: (initial: unknown, next: (state: Untyped, value: Untyped, at: SourceAt) => unknown): Results<Untyped> =>
      remember(reducing(initial, next)),
  }
}

function gatedOver(plan: StreamPlan): Gated<Untyped> {
  const windowed = (window: WindowPlan): Foldable<Untyped, Untyped> => foldableOver({ ...plan, window })
  return {
    ...resultsOver(plan),
    ...foldableOver(plan),
    window: (size, options = {}) => windowed(windowPlan('fixed', size, options)),
    session: (gap, options = {}) => windowed(windowPlan('session', gap, options)),
  }
}

function keyedOver(plan: StreamPlan): Keyed<Untyped> {
  return {
    ...gatedOver(plan),
    gate(initial: unknown, decide: (state: Untyped, value: Untyped, at: SourceAt & ResultAt) => unknown) {
      jsonText(initial, 'initial')
      return gatedOver({ ...plan, gate: { initial, decide: callable(decide, 'gate') } })
    },
  }
}

function streamOver(plan: StreamPlan): Stream<Untyped> {
  const add = operators<SourceAt, Stream<Untyped>>((operator) =>
    streamOver({ ...plan, before: [...plan.before, operator] }),
  )
  return {
    ...keyedOver(plan),
    ...add,
    keyBy: (key) => keyedOver({ ...plan, key: callable(key, 'keyBy') }),
  }
}

/** A stream over a queue, by its name or as it was declared. */
export function stream<T = Untyped>(name: string, source: string, settings?: StreamSettings): Stream<T>
export function stream<In, Out>(
  name: string,
  source: QueueDefinition<string, In, Out>,
  settings?: StreamSettings,
): Stream<Out>
export function stream(
  name: string,
  source: string | QueueDefinition<string, Untyped, Untyped>,
  { version = '' }: StreamSettings = {},
): Stream<Untyped> {
  return streamOver({
    name: streamName.read(name, root(), 'name'),
    version: String(version),
    source: definitionOf(source),
    before: [],
    key: null,
    gate: null,
    window: null,
    folding: null,
    after: [],
    sink: null,
  })
}
