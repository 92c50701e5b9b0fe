// How a stream's runner finds partitions with windows that nobody closes, and takes those that its group has read to the end for a
// moment: a lease with an empty batch, which a cycle acks.
import { streamClaim } from '../../operations/stream-claim.ts'
import { streamPartitions } from '../../operations/stream-partitions.ts'
import { streamRipe } from '../../operations/stream-ripe.ts'
import {
  CLAIM_BODY,
  decodeClaim,
  decodePartitions,
  decodeRipe,
  PARTITIONS_BODY,
  RIPE_BODY,
} from '../../protocol/stream-claim-request.ts'
import { bodyText } from './read-body.ts'
import { reading, writing } from './read-call.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

function unknownQuery(): Answer {
  const error = 'no stream is registered under this query_id (it may have been reset): register it again'
  return json(JSON.stringify({ success: false, reason: 'unknown_query', error }))
}

async function claim(call: Call): Promise<Answer> {
  const asked = decodeClaim(bodyText(call.body))
  const claimed = await writing(call, (db) => streamClaim(db, asked))
  if (claimed === null) return unknownQuery()
  return json(
    JSON.stringify({
      success: true,
      lease_id: claimed.leaseId,
      lease_seconds: asked.leaseSeconds,
      now_ms: claimed.nowMs,
      partitions: claimed.partitions.map(({ partitionId, partition, status, leaseExpiresAt }) => ({
        partition_id: partitionId,
        partition,
        status,
        ...(leaseExpiresAt === null ? {} : { lease_expires_at: leaseExpiresAt }),
      })),
    }),
  )
}

async function partitions(call: Call): Promise<Answer> {
  const query = decodePartitions(bodyText(call.body))
  const page = await reading(call, (db) => streamPartitions(db, query))
  return json(
    JSON.stringify({
      success: true,
      partitions: page.partitions.map(({ partitionId, partition, queue, updatedAt }) => ({
        partition_id: partitionId,
        partition,
        queue,
        updated_at: updatedAt,
      })),
      next: page.next,
    }),
  )
}

async function ripe(call: Call): Promise<Answer> {
  const query = decodeRipe(bodyText(call.body))
  const found = await reading(call, (db) => streamRipe(db, query))
  if (found === null) return unknownQuery()
  return json(
    JSON.stringify({ success: true, partition_ids: found.partitionIds, next_ms: found.nextMs, more: found.more }),
  )
}

export const streamClaimRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/streams/v1/claim',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about:
      'Leases partitions that the stream has read to the end, with an empty batch: a cycle that acks it closes windows there alone. Nothing is charged when such a lease lapses.',
    body: CLAIM_BODY,
    answers: {
      200: '{"success":true,"lease_id":"…","lease_seconds":30,"now_ms":1767225600000,"partitions":[{"partition_id":"…","partition":"…","status":"claimed|busy|backlog|missing","lease_expires_at":"…"}]} or {"success":false,"reason":"unknown_query","error":"…"}',
    },
    handle: claim,
  },
  {
    method: 'POST',
    path: '/streams/v1/state/partitions',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about:
      'The partitions of which a stream remembers something, in the order of their ids; `next` goes on, also behind a page with fewer.',
    body: PARTITIONS_BODY,
    answers: {
      200: '{"success":true,"partitions":[{"partition_id":"…","partition":"…","queue":"…","updated_at":"…"}],"next":null}',
    },
    handle: partitions,
  },
  {
    method: 'POST',
    path: '/streams/v1/state/ripe',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about:
      'The partitions with a window that has been over for grace_ms, by the database’s clock, the oldest first; next_ms says when to ask again.',
    body: RIPE_BODY,
    answers: {
      200: '{"success":true,"partition_ids":["…"],"next_ms":1500,"more":false} or {"success":false,"reason":"unknown_query","error":"…"}',
    },
    handle: ripe,
  },
]
