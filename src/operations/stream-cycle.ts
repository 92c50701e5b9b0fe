// One cycle of a stream: state, pushes and the ack of its source, in one commit.
import type { Executor } from '../db/executor.ts'
import { withSealed } from '../db/vault/seal-items.ts'
import { parsePartitionId } from '../protocol/partition-id.ts'
import type { StreamCycle, StreamCycleResult } from '../protocol/stream.ts'
import { readTransactionAnswer } from '../protocol/transaction-answer.ts'
import type { StepOperation } from '../protocol/transaction.ts'
import { pushLines } from './push-lines.ts'

const CYCLE =
  'select result, queue_name from lockstep.stream_cycle($1::int, $2::int, $3::bigint, $4::text, $5::text, $6::text, $7::int, $8::boolean, $9::text[], $10::text[], $11::float8[], $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::uuid[])'

const UNKNOWN = {
  unknown_query: 'no stream is registered under this query_id (it may have been reset): register it again',
  unknown_partition: 'no such partition',
} as const

const lost = (reason: keyof typeof UNKNOWN): StreamCycleResult => ({ success: false, reason, error: UNKNOWN[reason] })

export async function streamCycle(db: Executor, cycle: StreamCycle): Promise<StreamCycleResult> {
  const { ack, state, pushes } = cycle
  const place = parsePartitionId(cycle.partitionId)
  if (place === null) return lost('unknown_partition')
  const [row] = await withSealed(db, pushes, (sealed) =>
    db.rows(CYCLE, [
      String(cycle.queryId),
      place.queueId,
      place.partitionId,
      cycle.group,
      ack?.leaseId ?? null,
      ack?.status ?? null,
      ack === null ? null : String(ack.count),
      String(cycle.releaseLease),
      state.map((change) => change.key),
      state.map((change) => change.value),
      state.map((change) => (change.windowEnd === null ? null : String(change.windowEnd))),
      ...pushLines(sealed),
    ]),
  )
  const text = row?.[0] ?? ''
  for (const reason of ['unknown_query', 'unknown_partition'] as const) {
    if (text === `{"success":false,"reason":"${reason}"}`) return lost(reason)
  }
  const operations = [...pushes.map((item): StepOperation => ({ type: 'push', item })), ...ackOf(cycle)]
  const result = readTransactionAnswer(text, { requestId: null, bodyHash: null, operations, kv: [], timers: [] }, false)
  // A single step is never deferred: it shares its call with nobody.
  if (result === 'deferred') return lost('unknown_query')
  if (!result.success) return { success: false, reason: result.reason, error: result.error }
  const acked = result.operations.find((each) => each.type === 'ack')
  return {
    success: true,
    queue: row?.[1] ?? '',
    pushes: result.operations.filter((each) => each.type === 'push'),
    ack: acked ? { leaseReleased: acked.leaseReleased || endsLease(cycle), dlq: acked.dlq } : null,
  }
}

/** The ack of a claim's empty batch moves nothing, but it ends the lease as any other does. */
const endsLease = ({ ack, releaseLease }: StreamCycle): boolean => releaseLease || ack?.status === 'retry'

function ackOf({ ack, partitionId }: StreamCycle): readonly StepOperation[] {
  if (ack === null) return []
  const { leaseId, status } = ack
  // Only its kind and place matter: it tells the reader of the answer that an ack stands behind the pushes.
  const item = { partitionId, group: '', leaseId, status, transactionId: null, offset: null, error: null }
  return [{ type: 'ack', item }]
}
