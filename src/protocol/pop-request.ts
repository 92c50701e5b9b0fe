// Decodes the query of a pop. Numbers out of range, unknown subscription modes and unreadable times are refused, never
// guessed; the one cap is the wire's own: a long poll ends after 60 s at the latest, whatever longer time was asked for.
import { booleanText, integerText, optional, readFields, refuse, root, text } from './check.ts'
import type { Field, Fields, Place } from './check.ts'
import { LIMITS } from './limits.ts'
import { QUEUE_MODE } from './message.ts'
import { groupName, namespaceName, partitionName, queueName } from './names.ts'

const DAY_MS = 86_400_000

const leaseSecondsText: Field<number | null> = {
  type: `an integer up to ${LIMITS.leaseSeconds}; zero or less is the queue's own`,
  optional: true,
  read(value, place, name) {
    if (value === undefined) return null
    const seconds = integerText(-LIMITS.leaseSeconds, LIMITS.leaseSeconds).read(value, place, name)
    return seconds <= 0 ? null : seconds
  },
}

export const POP_QUERY = {
  batch: optional(integerText(1, LIMITS.popBatch), LIMITS.popBatchDefault),
  partitions: optional(integerText(1, LIMITS.popPartitions), null),
  wait: optional(booleanText, false),
  timeout: optional(integerText(0, DAY_MS), LIMITS.popTimeoutDefaultMs),
  consumerGroup: optional(groupName, QUEUE_MODE),
  leaseSeconds: leaseSecondsText,
  autoAck: optional(booleanText, false),
  commitOnDelivery: optional(booleanText, false),
  subscriptionMode: optional(text({ max: 64 }), null),
  subscriptionFrom: optional(text({ max: 64 }), null),
  conflation: optional(booleanText, false),
  autopilot: optional(booleanText, false),
} as const satisfies Fields

export type PopStart = { readonly mode: 'all' | 'new' } | { readonly from: string }

/** A pop as asked for, whatever carried it. */
export interface PopWish {
  readonly queue: string
  readonly partition: string | null
  readonly group: string
  readonly batch: number
  readonly partitions: number
  readonly leaseSeconds: number | null
  readonly autoAck: boolean
  readonly start: PopStart
  /** Only the newest message of each partition, if the group is not known yet. */
  readonly conflation: boolean
}

export interface DecodedPop {
  readonly wish: PopWish
  /** How long to wait for a message; 0 asks once. */
  readonly waitMs: number
}

export type Query = Readonly<Record<string, string>>

export function decodePop(
  queue: string,
  partition: string | null,
  query: Query,
  defaultMode: 'all' | 'new',
): DecodedPop {
  const place = root()
  const asked = readFields(POP_QUERY, query, place)
  if (asked.conflation) refuseConflation(asked, place)
  return {
    wish: {
      queue: queueName.read(queue, place, 'queue'),
      partition: partition === null ? null : partitionName.read(partition, place, 'partition'),
      group: asked.consumerGroup,
      batch: asked.batch,
      partitions: partition === null ? (asked.partitions ?? partitionsOf(asked)) : 1,
      leaseSeconds: asked.leaseSeconds,
      autoAck: asked.autoAck || asked.commitOnDelivery,
      start: startOf(asked.subscriptionMode, asked.subscriptionFrom, defaultMode, place),
      conflation: asked.conflation,
    },
    waitMs: asked.wait ? Math.min(asked.timeout, LIMITS.popTimeoutMs) : 0,
  }
}

/** Where no number is named: of a conflating group, which brings one message of each, as many as messages were asked for. */
export function partitionsOf(asked: { readonly conflation: boolean; readonly batch: number }): number {
  return asked.conflation ? Math.min(asked.batch, LIMITS.popPartitions) : 1
}

function refuseConflation(
  asked: { readonly consumerGroup: string; readonly autoAck: boolean; readonly commitOnDelivery: boolean },
  place: Place,
): void {
  if (asked.consumerGroup === QUEUE_MODE) {
    refuse(place, 'consumerGroup', 'a group of its own: conflation is a property of a group')
  }
  if (asked.autoAck || asked.commitOnDelivery) {
    refuse(place, asked.autoAck ? 'autoAck' : 'commitOnDelivery', 'false: what conflation skips is settled by the ack')
  }
}

export const DISCOVERY_QUERY = {
  namespace: optional(namespaceName, null),
  task: optional(namespaceName, null),
} as const satisfies Fields

const MODES: ReadonlyMap<string, 'all' | 'new'> = new Map([
  ['all', 'all'],
  ['from_beginning', 'all'],
  ['new', 'new'],
  ['new-only', 'new'],
])

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

/** A named start time wins over a mode, as the more exact of the two. */
function startOf(mode: string | null, from: string | null, fallback: 'all' | 'new', place: Place): PopStart {
  const known = mode === null ? fallback : MODES.get(mode)
  if (known === undefined) refuse(place, 'subscriptionMode', 'all, new, new-only or from_beginning')
  if (from === null || from === '') return { mode: known }
  if (from === 'now') return { mode: 'new' }
  return { from: instantText(from, place, 'subscriptionFrom') }
}

/** An ISO-8601 instant, checked for shape and for being a day that exists; PostgreSQL reads the text itself, so nothing is rounded. */
export function instantText(value: string, place: Place, name: string): string {
  const right = 'an ISO-8601 time like 2026-10-02T09:14:03Z'
  if (!ISO.test(value)) refuse(place, name, right)
  const day = value.slice(0, 10)
  const parsed = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== day) refuse(place, name, right)
  if (Number.isNaN(Date.parse(value))) refuse(place, name, right)
  return /Z$|[+-]\d{2}:?\d{2}$/.test(value.slice(10)) ? value : value.length === 10 ? `${value}T00:00:00Z` : `${value}Z`
}

export const instant: Field<string> = {
  type: 'an ISO-8601 time',
  optional: false,
  schema: { type: 'string', format: 'date-time' },
  read(value, place, name) {
    if (typeof value !== 'string') refuse(place, name, instant.type)
    return instantText(value, place, name)
  },
}
