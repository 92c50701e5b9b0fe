// Decodes the three calls that read logs by offset. A partition is named by text, or by a number that stands for its decimal name.
import { integer, list, optional, readFields, text } from './check.ts'
import type { Field, Place } from './check.ts'
import type { ChangedEntry, FetchRequest, OffsetEntry } from './fetch.ts'
import { LIMITS } from './limits.ts'
import { DEFAULT_PARTITION } from './message.ts'
import { partitionName, queueName } from './names.ts'
import { instant } from './pop-request.ts'
import { bodyPlace, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'

const partition: Field<string> = {
  ...partitionName,
  type: `${partitionName.type}, or its number`,
  schema: { type: ['string', 'integer'] },
  read: (value, place, name) =>
    partitionName.read(typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value, place, name),
}

const bytes = integer(1, Number.MAX_SAFE_INTEGER)

export const FETCH_ENTRY = {
  queue: queueName,
  partition: optional(partition, DEFAULT_PARTITION),
  offset: integer(0, Number.MAX_SAFE_INTEGER),
  maxBytes: optional(bytes, LIMITS.fetchBytesDefault),
} as const
export const FETCH_BODY = {
  maxBytes: optional(bytes, LIMITS.fetchBytes),
  maxWaitMs: optional(integer(0, LIMITS.popTimeoutMs), 0),
  minBytes: optional(integer(0, LIMITS.fetchBytes), 1),
} as const
export const OFFSET_ENTRY = {
  queue: queueName,
  partition: optional(partition, DEFAULT_PARTITION),
  timestamp: instant,
} as const
export const CHANGED_ENTRY = {
  queue: queueName,
  since: optional(instant, null),
  after: optional(text({ max: LIMITS.nameBytes }), null),
  limit: optional(integer(1, LIMITS.listLimit), LIMITS.listLimit),
} as const

/** One entry of a list, as a field. */
function entry<T>(read: (value: unknown, place: Place) => T): Field<T> {
  return { type: 'an object', optional: false, read: (value, place) => read(value, place) }
}

const fetchEntries = list(
  LIMITS.fetchEntries,
  entry((value, place) => readFields(FETCH_ENTRY, value, place)),
)
const offsetEntries = list(
  LIMITS.fetchEntries,
  entry((value, place) => readFields(OFFSET_ENTRY, value, place)),
)
const changedEntries = list(
  LIMITS.changedEntries,
  entry((value, place) => readFields(CHANGED_ENTRY, value, place)),
)

export function decodeFetch(body: RequestBody): FetchRequest {
  const place = bodyPlace()
  return readFields({ ...FETCH_BODY, entries: fetchEntries }, recordOf(sliced(body, {}).envelope, place), place)
}

export function decodeOffsets(body: RequestBody): readonly OffsetEntry[] {
  const place = bodyPlace()
  return readFields({ entries: offsetEntries }, recordOf(sliced(body, {}).envelope, place), place).entries
}

export function decodeChanged(body: RequestBody): readonly ChangedEntry[] {
  const place = bodyPlace()
  return readFields({ entries: changedEntries }, recordOf(sliced(body, {}).envelope, place), place).entries
}
