// The calls of streams through the broker. A cycle carries a request id, so that a lost answer can be asked for again and the
// cycle is applied once.
import { boolean, integer, list, oneOf, optional } from '../../protocol/check.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { CUT, inArray, inObject } from '../../protocol/json-slices.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { mintId } from '../../protocol/mint-id.ts'
import type { StreamCycle, StreamLoss } from '../../protocol/stream.ts'
import {
  fieldsIn,
  plainText,
  readAnswer,
  recordIn,
  recordsIn,
  textIn,
  type AnswerRecord,
} from '../http/answer-reader.ts'
import type { HttpCall } from '../http/http-call.ts'
import type { StreamCalls } from './stream-calls.ts'

const count = integer(0, Number.MAX_SAFE_INTEGER)
const REGISTERED = { query_id: plainText, fresh: boolean, reset: boolean } as const
const ROW = { key: plainText, updated_at: plainText } as const
const ROWS = inObject({ rows: inArray(inObject({ value: CUT })) })
const CLAIMED = { lease_id: plainText, now_ms: count } as const
const PARTITION = {
  partition_id: plainText,
  partition: plainText,
  status: oneOf('claimed', 'busy', 'backlog', 'missing'),
  lease_expires_at: optional(plainText, null),
} as const
const RIPE = {
  partition_ids: list(LIMITS.streamClaims, plainText),
  next_ms: optional(count, null),
  more: boolean,
} as const
const VERDICT = { success: boolean } as const
const LOSSES: readonly StreamLoss[] = [
  'unknown_query',
  'unknown_partition',
  'rejected_ack',
  'duplicate',
  'queue_full',
  'kv_precondition',
  'request_conflict',
]

function cycleBody({ queryId, partitionId, group, state, pushes, ack, releaseLease }: StreamCycle): string {
  const changes = state.map(({ key, value }) =>
    value === null
      ? JSON.stringify({ type: 'delete', key })
      : `{"type":"upsert","key":${JSON.stringify(key)},"value":${value}}`,
  )
  const items = pushes.map(({ queue, partition, payload }) => {
    const place = JSON.stringify({ queue, partition })
    return `${place.slice(0, -1)},"payload":${payload}}`
  })
  const rest = JSON.stringify({
    requestId: mintId(),
    query_id: String(queryId),
    partition_id: partitionId,
    consumer_group: group,
    release_lease: releaseLease,
    ack,
  })
  return `${rest.slice(0, -1)},"state_ops":[${changes.join(',')}],"push_items":[${items.join(',')}]}`
}

function lossIn(answer: AnswerRecord): { readonly reason: StreamLoss; readonly error: string } {
  const { reason, error } = fieldsIn({ reason: plainText, error: plainText }, answer)
  const known = LOSSES.find((each) => each === reason)
  if (known === undefined) throw new LockstepError('internal', `a cycle was refused for '${reason}': ${error}`)
  return { reason: known, error }
}

export function httpStreamCalls(ask: (call: HttpCall) => Promise<string>): StreamCalls {
  const post = async (path: string, body: string): Promise<string> =>
    ask({ method: 'POST', path: `/streams/v1/${path}`, body, repeatable: true })

  /** Null when the stream is registered no more. */
  async function known(path: string, body: object): Promise<AnswerRecord | null> {
    const answer = recordIn(readAnswer(await post(path, JSON.stringify(body)), {}).envelope)
    return fieldsIn(VERDICT, answer).success ? answer : null
  }

  return {
    async register({ name, sourceQueue, sinkQueue, configHash, reset }) {
      const body = { name, source_queue: sourceQueue, sink_queue: sinkQueue, config_hash: configHash, reset }
      const answer = fieldsIn(REGISTERED, readAnswer(await post('queries', JSON.stringify(body)), {}).envelope)
      return { queryId: answer.query_id, outcome: answer.fresh ? 'fresh' : answer.reset ? 'reset' : 'kept' }
    },

    async state({ queryId, partitionId, keys, prefix, ripeAt, limit }) {
      const filters = { keys, key_prefix: prefix, ripe_at_or_before: ripeAt, limit }
      const body = JSON.stringify({ query_id: String(queryId), partition_id: partitionId, ...filters })
      const answer = readAnswer(await post('state/get', body), ROWS)
      return recordsIn(recordIn(answer.envelope)['rows'], null).map((source) => {
        const { key, updated_at: updatedAt } = fieldsIn(ROW, source)
        return { key, value: textIn(answer, source, 'value') ?? 'null', updatedAt }
      })
    },

    async cycle(cycle) {
      const answer = recordIn(readAnswer(await post('cycle', cycleBody(cycle)), {}).envelope)
      return fieldsIn(VERDICT, answer).success ? { success: true } : { success: false, ...lossIn(answer) }
    },

    async claim({ queryId, partitionIds, group, leaseSeconds }) {
      const answer = await known('claim', {
        query_id: String(queryId),
        partition_ids: partitionIds,
        consumer_group: group,
        lease_seconds: leaseSeconds,
      })
      if (answer === null) return null
      const { lease_id: leaseId, now_ms: nowMs } = fieldsIn(CLAIMED, answer)
      const partitions = recordsIn(answer['partitions'], partitionIds.length).map((source) => {
        const read = fieldsIn(PARTITION, source)
        const { partition, status } = read
        return { partitionId: read.partition_id, partition, status, leaseExpiresAt: read.lease_expires_at }
      })
      return { leaseId, nowMs, partitions }
    },

    async ripe({ queryId, graceMs, limit }) {
      const answer = await known('state/ripe', { query_id: String(queryId), grace_ms: graceMs, limit })
      if (answer === null) return null
      const { partition_ids: partitionIds, next_ms: nextMs, more } = fieldsIn(RIPE, answer)
      return { partitionIds, nextMs, more }
    },
  }
}
