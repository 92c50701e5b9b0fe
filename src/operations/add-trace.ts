// Notes an event of a message's way.
import type { Executor } from '../db/executor.ts'
import type { OutgoingTrace } from '../protocol/trace.ts'

const ADD = 'select lockstep.add_trace($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text[])'

export async function addTrace(db: Executor, trace: OutgoingTrace): Promise<string> {
  const { partitionId, transactionId, data, eventType, group, workerId, names } = trace
  const [row] = await db.rows(ADD, [partitionId, transactionId, data, eventType, group, workerId, names])
  return row?.[0] ?? ''
}
