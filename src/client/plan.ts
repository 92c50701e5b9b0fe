// What a queue builder has gathered: where to read, for whom, how much at a time and until when. Every setting returns a
// new builder over a new plan, checked when it is said; a builder can be kept and used twice.
import { integer, refuse, root } from '../protocol/check.ts'
import { LIMITS } from '../protocol/limits.ts'
import { QUEUE_MODE } from '../protocol/message.ts'
import { groupName, partitionName } from '../protocol/names.ts'
import { instantText } from '../protocol/pop-request.ts'
import type { QueueDefinition } from './queue-definition.ts'
import type { QueueSettings } from './queue-settings.ts'
import type { Start } from './transport.ts'

export interface Plan {
  readonly definition: QueueDefinition<string, unknown, unknown>
  readonly partition: string | null
  readonly group: string
  readonly start: Start
  readonly autoAck: boolean
  /** Null: 200 for a pop, 100 for a batch consumer, 10 for one that takes messages one by one. */
  readonly batch: number | null
  /** Null: one, or of a group that conflates as many as messages. */
  readonly partitions: number | null
  /** Only the newest message of each partition. */
  readonly conflation: boolean
  /** Null: a consumer waits, a pop does not. */
  readonly wait: boolean | null
  readonly timeoutMs: number
  readonly limit: number | null
  readonly idleMs: number | null
  readonly concurrency: number
  readonly leaseSeconds: number | null
  /** Milliseconds between renewals while a handler runs; 'auto' follows the lease, null lets it lapse. */
  readonly renewal: number | 'auto' | null
  readonly settings: QueueSettings
}

export type SubscriptionMode = 'all' | 'new' | 'from_beginning' | 'new-only'

/** The settings that every builder of a queue has. */
export interface Settings<Self> {
  partition(name: string): Self
  group(name: string): Self
  /** Where a group that is not known yet begins: everything that is kept, or what comes from now on (the default). */
  subscriptionMode(mode: SubscriptionMode): Self
  /** Begins at the first message created at or after this instant. Wins over the mode. */
  subscriptionFrom(instant: string | Date): Self
  /** True (the default): a handler that returns completes its message. */
  autoAck(on: boolean): Self
  /** Messages claimed at once, over all partitions of the call. */
  batch(messages: number): Self
  /** Partitions claimed at once. */
  partitions(count: number): Self
  /**
   * Only the newest message of each partition; completing it completes those it skipped. Needs a group, and is fixed by the
   * group's first pop.
   */
  conflation(on?: boolean): Self
  /** Whether to wait for messages when there are none. */
  wait(on: boolean): Self
  /** How long one wait lasts. */
  timeout(milliseconds: number): Self
  /** Stop after this many messages are finished with. */
  limit(messages: number): Self
  /** Stop when nothing came for this long. */
  idleMillis(milliseconds: number): Self
  /** Claims worked on side by side. */
  concurrency(count: number): Self
  /** Lease length; default is the queue's own. */
  leaseSeconds(seconds: number): Self
  /** Whether the lease is renewed while a handler runs (the default), and how often. */
  renewLease(on: boolean, intervalMs?: number): Self
}

export function planFor(definition: QueueDefinition<string, unknown, unknown>): Plan {
  return {
    definition,
    partition: null,
    group: QUEUE_MODE,
    start: null,
    autoAck: true,
    batch: null,
    partitions: null,
    conflation: false,
    wait: null,
    timeoutMs: LIMITS.popTimeoutDefaultMs,
    limit: null,
    idleMs: null,
    concurrency: 1,
    leaseSeconds: null,
    renewal: 'auto',
    settings: {},
  }
}

const DAY_MS = 86_400_000
const batchSize = integer(1, LIMITS.popBatch)
const partitionCount = integer(1, LIMITS.popPartitions)
const waitMs = integer(0, LIMITS.popTimeoutMs)
const messageCount = integer(1, Number.MAX_SAFE_INTEGER)
const idleMs = integer(1, DAY_MS)
const workers = integer(1, LIMITS.parkedPolls)
const leaseLength = integer(1, LIMITS.leaseSeconds)
const renewalMs = integer(10, DAY_MS)

const MODES: ReadonlyMap<unknown, 'all' | 'new'> = new Map([
  ['all', 'all'],
  ['from_beginning', 'all'],
  ['new', 'new'],
  ['new-only', 'new'],
])

function modeOf(mode: SubscriptionMode): 'all' | 'new' {
  return MODES.get(mode) ?? refuse(root(), 'subscriptionMode', "'all' or 'new'")
}

function startAt(instant: string | Date): Start {
  if (instant === 'now') return { mode: 'new' }
  const text = instant instanceof Date ? instant.toISOString() : instant
  return { from: instantText(text, root(), 'subscriptionFrom') }
}

function flag(value: unknown, name: string): boolean {
  return typeof value === 'boolean' ? value : refuse(root(), name, 'true or false')
}

export function settingsOver<Self>(plan: Plan, next: (plan: Plan) => Self): Settings<Self> {
  const set = (change: Partial<Plan>): Self => next({ ...plan, ...change })
  return {
    partition: (name) => set({ partition: partitionName.read(name, root(), 'partition') }),
    group: (name) => set({ group: groupName.read(name, root(), 'group') }),
    subscriptionMode: (mode) => {
      const known = modeOf(mode)
      return set(plan.start !== null && 'from' in plan.start ? {} : { start: { mode: known } })
    },
    subscriptionFrom: (instant) => set({ start: startAt(instant) }),
    autoAck: (on) => set({ autoAck: flag(on, 'autoAck') }),
    batch: (messages) => set({ batch: batchSize.read(messages, root(), 'batch') }),
    partitions: (count) => set({ partitions: partitionCount.read(count, root(), 'partitions') }),
    conflation: (on = true) => set({ conflation: flag(on, 'conflation') }),
    wait: (on) => set({ wait: flag(on, 'wait') }),
    timeout: (milliseconds) => set({ timeoutMs: waitMs.read(milliseconds, root(), 'timeout') }),
    limit: (messages) => set({ limit: messageCount.read(messages, root(), 'limit') }),
    idleMillis: (milliseconds) => set({ idleMs: idleMs.read(milliseconds, root(), 'idleMillis') }),
    concurrency: (count) => set({ concurrency: workers.read(count, root(), 'concurrency') }),
    leaseSeconds: (seconds) => set({ leaseSeconds: leaseLength.read(seconds, root(), 'leaseSeconds') }),
    renewLease(on, intervalMs) {
      if (!flag(on, 'renewLease')) return set({ renewal: null })
      return set({ renewal: intervalMs === undefined ? 'auto' : renewalMs.read(intervalMs, root(), 'intervalMs') })
    },
  }
}
