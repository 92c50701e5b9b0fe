// Decodes the calls by which a stream's runner finds and closes what nobody works on: the partitions that hold state, those with a
// window that is over, and the claim of those that its group has read to the end.
import { integer, list, optional, readFields, refuse, text } from './check.ts'
import { LIMITS } from './limits.ts'
import { groupName } from './names.ts'
import { parsePartitionId } from './partition-id.ts'
import { bodyPlace, recordOf, sliced } from './request-body.ts'
import type { RequestBody } from './request-body.ts'
import { queryId } from './stream-request.ts'
import type { PartitionsQuery, RipeQuery, StreamClaim } from './stream.ts'

const partitionId = text({ min: 1, max: 32 })

export const CLAIM_BODY = {
  query_id: queryId,
  partition_ids: list(LIMITS.streamClaims, partitionId),
  consumer_group: optional(groupName, null),
  lease_seconds: optional(integer(1, LIMITS.streamClaimSeconds), LIMITS.streamClaimSecondsDefault),
} as const

export function decodeClaim(body: RequestBody): StreamClaim {
  const place = bodyPlace()
  const read = readFields(CLAIM_BODY, recordOf(sliced(body, {}).envelope, place), place)
  return {
    queryId: read.query_id,
    partitionIds: read.partition_ids,
    group: read.consumer_group,
    leaseSeconds: read.lease_seconds,
  }
}

export const PARTITIONS_BODY = {
  query_id: queryId,
  untouched_for_ms: optional(integer(0, Number.MAX_SAFE_INTEGER), null),
  after: optional(text({ max: 32 }), ''),
  limit: optional(integer(1, LIMITS.listLimit), LIMITS.listLimitDefault),
} as const

export function decodePartitions(body: RequestBody): PartitionsQuery {
  const place = bodyPlace()
  const read = readFields(PARTITIONS_BODY, recordOf(sliced(body, {}).envelope, place), place)
  if (read.after !== '' && parsePartitionId(read.after) === null) refuse(place, 'after', 'the next of a page')
  return { queryId: read.query_id, after: read.after, untouchedMs: read.untouched_for_ms, limit: read.limit }
}

export const RIPE_BODY = {
  query_id: queryId,
  grace_ms: optional(integer(0, Number.MAX_SAFE_INTEGER), 0),
  limit: optional(integer(1, LIMITS.streamClaims), LIMITS.listLimitDefault),
} as const

export function decodeRipe(body: RequestBody): RipeQuery {
  const place = bodyPlace()
  const read = readFields(RIPE_BODY, recordOf(sliced(body, {}).envelope, place), place)
  return { queryId: read.query_id, graceMs: read.grace_ms, limit: read.limit }
}
