// What a stream is, gathered by its builder: where it reads, what it does with each value, what it remembers, and where its results
// go. The shape of what it remembers is written into its registration, so that state made by another shape is never gone on with.
import { LIMITS } from '../../protocol/limits.ts'
import { utf8Length } from '../../protocol/utf8.ts'
import type { QueueDefinition } from '../queue-definition.ts'
import type { WindowPlan } from './windows.ts'

/** Where a value comes from. */
export interface SourceAt {
  readonly partition: string
  readonly offset: number
  readonly transactionId: string
  /** ISO-8601 UTC, by the database's clock. */
  readonly createdAt: string
  /** 1 at the first delivery. */
  readonly deliveryAttempt: number
}

/** What a result belongs to. */
export interface ResultAt {
  /** Of the source. */
  readonly partition: string
  /** Of `keyBy`; without one, the partition. */
  readonly key: string
}

/** A value gives any number of others: one for map, none or itself for filter. */
export type Operator<At> = (value: unknown, at: At) => Promise<readonly unknown[]>

export interface Folding {
  readonly start: () => unknown
  /** The next state; the given one is left as it is. */
  readonly add: (state: unknown, value: unknown, at: SourceAt) => unknown
  /** What is emitted, beside the key and the window. */
  readonly result: (state: unknown) => Readonly<Record<string, unknown>>
  readonly shape: unknown
}

export interface Gate {
  readonly initial: unknown
  readonly decide: (state: unknown, value: unknown, at: SourceAt & ResultAt) => unknown
}

export interface Sink {
  readonly definition: QueueDefinition<string, unknown, unknown>
  /** Null: the partition of the source. */
  readonly partition: ((value: unknown, at: ResultAt) => string) | null
}

export interface StreamPlan {
  readonly name: string
  readonly version: string
  readonly source: QueueDefinition<string, unknown, unknown>
  readonly before: readonly Operator<SourceAt>[]
  readonly key: ((value: unknown, at: SourceAt) => string | number) | null
  readonly gate: Gate | null
  readonly window: WindowPlan | null
  readonly folding: Folding | null
  readonly after: readonly Operator<ResultAt>[]
  readonly sink: Sink | null
}

/** 64 bits of FNV-1a: tells shapes apart, guards nothing. */
function digest(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, '0')
}

/** Readable, so that a conflict can be understood by looking at both. */
export function shapeOf({ source, version, key, gate, window, folding }: StreamPlan): string {
  const shape = JSON.stringify({
    source: source.name,
    ...(version === '' ? {} : { version }),
    keyed: key !== null,
    ...(gate === null ? {} : { gate: true }),
    ...(window === null ? {} : { [window.kind]: [window.sizeMs, window.everyMs] }),
    ...(folding === null ? {} : { folding: folding.shape }),
  })
  return utf8Length(shape) <= LIMITS.streamHashBytes ? shape : `fnv1a:${digest(shape)}`
}
