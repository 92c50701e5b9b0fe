// Ack: settles messages for their groups. Joined calls are judged each by itself; every item has its own answer. Calls that
// complete a leased batch by its ids, as workers do, are named as batches: SQL then compares arrays instead of judging items.
import type { Executor } from '../db/executor.ts'
import type { AckItem, AckResult } from '../protocol/message.ts'
import { ackLine } from './ack-lines.ts'
import { batchLines, wholeBatches } from './ack-batches.ts'

const ITEMS =
  '$1::int[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[]'
const ACK = `select 0, * from lockstep.ack_joined(${ITEMS})`
const ACK_BATCHES = `select * from lockstep.ack_calls_joined(${ITEMS}, $10::int[], $11::int[], $12::bigint[], $13::text[], $14::text[], $15::int[], $16::text[])`

/** One list of answers per call, aligned with its items. */
export async function ack(
  db: Executor,
  calls: readonly (readonly AckItem[])[],
): Promise<readonly (readonly AckResult[])[]> {
  const results: AckResult[][] = calls.map((call) => call.map(() => refused('partitionId is not a partition id')))
  const batches = wholeBatches(calls)
  const places: (readonly [call: number, item: number])[] = []
  const columns: (string | null)[][] = Array.from({ length: 9 }, () => [])
  for (const [callAt, call] of calls.entries()) {
    if (batches.includes(callAt)) continue
    for (const [itemAt, item] of call.entries()) {
      const values = ackLine(item)
      if (values === null) continue
      places.push([callAt, itemAt])
      columns[0]?.push(String(callAt))
      for (const [at, value] of values.entries()) columns[at + 1]?.push(value)
    }
  }
  if (places.length === 0 && batches.length === 0) return results
  const rows =
    batches.length === 0
      ? await db.rows(ACK, columns)
      : await db.rows(ACK_BATCHES, [...columns, ...batchLines(calls, batches)])
  for (const [batch, ord, success, error, leaseReleased, dlq, noop, conflated] of rows) {
    const result: AckResult = {
      success: success === 't',
      error: error ?? null,
      leaseReleased: leaseReleased === 't',
      dlq: dlq === 't',
      noop: noop === 't',
      ...(typeof conflated === 'string' ? { conflated: Number(conflated) } : {}),
    }
    const [callAt, itemAt] =
      batch === '0' ? (places[Number(ord) - 1] ?? []) : [batches[Number(batch) - 1], Number(ord) - 1]
    const list = callAt === undefined ? undefined : results[callAt]
    if (list === undefined || itemAt === undefined) continue
    if (itemAt === -1) results[callAt ?? 0] = list.map(() => result)
    else list[itemAt] = result
  }
  return results
}

function refused(error: string): AckResult {
  return { success: false, error, leaseReleased: false, dlq: false, noop: false }
}
