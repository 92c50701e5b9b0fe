// Decodes a trace. Its data is carried as text.
import { readFields, refuse } from './check.ts'
import { CUT, inObject } from './json-slices.ts'
import { payloadFault } from './push-request.ts'
import { bodyPlace, pieceOf, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { checkTraceData, TRACE_BODY } from './trace-fields.ts'
import type { OutgoingTrace } from './trace.ts'

export function decodeTrace(body: RequestBody): OutgoingTrace {
  const place = bodyPlace()
  const { envelope, pieces } = sliced(body, inObject({ data: CUT }))
  const request = recordOf(envelope, place)
  const read = readFields(TRACE_BODY, request, place)
  const data = pieceOf(pieces, request, 'data')
  if (data === null) refuse(place, 'data', 'present: any JSON value')
  const fault = payloadFault(data)
  if (fault !== null) refuse(place, 'data', fault)
  return {
    transactionId: read.transactionId,
    partitionId: read.partitionId,
    data: checkTraceData(data.text, place),
    eventType: read.eventType,
    group: read.consumerGroup,
    workerId: read.workerId,
    names: read.traceNames,
  }
}
