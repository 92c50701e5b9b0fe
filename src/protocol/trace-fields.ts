// The fields of a trace, as the broker and the client check them. One name or several are the same to the wire.
import { optional, refuse, text } from './check.ts'
import type { Field, Place } from './check.ts'
import { LIMITS } from './limits.ts'
import { groupName, transactionIdText } from './names.ts'
import { utf8Length } from './utf8.ts'

export const traceName = text({ min: 1, max: LIMITS.nameBytes })
export const tracedPartition = text({ min: 1, max: LIMITS.nameBytes })

export const traceNames: Field<readonly string[]> = {
  type: `a name, or an array of at most ${LIMITS.traceNames} names of 1 to ${LIMITS.nameBytes} bytes`,
  optional: true,
  read(value, place, name) {
    if (value === undefined || value === null || value === '') return []
    const given: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (given.length > LIMITS.traceNames) refuse(place, name, traceNames.type)
    return [...new Set(given.map((each) => traceName.read(each, place, name)))]
  },
}

export const TRACE_BODY = {
  transactionId: transactionIdText,
  partitionId: tracedPartition,
  consumerGroup: optional(groupName, null),
  eventType: optional(text({ min: 1, max: LIMITS.nameBytes }), 'info'),
  workerId: optional(text({ max: LIMITS.nameBytes }), null),
  traceNames,
} as const

/** The data of a trace as JSON text, when it is not too long. */
export function checkTraceData(data: string, place: Place): string {
  if (utf8Length(data) > LIMITS.traceBytes) {
    refuse(place, 'data', `at most ${LIMITS.traceBytes} bytes`, 'payload_too_large')
  }
  return data
}
