// Decodes a trace. Its data is carried as text; one name or several are the same to the wire.
import { optional, readFields, refuse, text } from './check.ts'
import type { Field } from './check.ts'
import { CUT, inObject } from './json-slices.ts'
import { LIMITS } from './limits.ts'
import { groupName, transactionIdText } from './names.ts'
import { payloadFault } from './push-request.ts'
import { bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import type { OutgoingTrace } from './trace.ts'
import { utf8Length } from './utf8.ts'

export const traceName = text({ min: 1, max: LIMITS.nameBytes })
export const tracedPartition = text({ min: 1, max: LIMITS.nameBytes })

const traceNames: Field<readonly string[]> = {
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

export function decodeTrace(body: RequestBody): OutgoingTrace {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, inObject({ data: CUT }))
  const request = recordOf(envelope, place)
  const read = readFields(TRACE_BODY, request, place)
  const data = pieceOf(pieces, request, 'data')
  if (data === null) refuse(place, 'data', 'present: any JSON value')
  const fault = payloadFault(data)
  if (fault !== null) refuse(place, 'data', fault)
  if (utf8Length(data.text) > LIMITS.traceBytes) {
    refuse(place, 'data', `at most ${LIMITS.traceBytes} bytes`, 'payload_too_large')
  }
  return {
    transactionId: read.transactionId,
    partitionId: read.partitionId,
    data: data.text,
    eventType: read.eventType,
    group: read.consumerGroup,
    workerId: read.workerId,
    names: read.traceNames,
  }
}
