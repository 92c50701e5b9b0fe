// Ack: settles messages for their groups. Joined calls are judged each by itself; every item has its own answer.
import type { Executor } from '../db/executor.ts'
import type { AckItem, AckResult } from '../protocol/message.ts'
import { ackLine } from './ack-lines.ts'

const ACK =
  'select * from lockstep.ack_joined($1::int[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::text[])'

/** One list of answers per call, aligned with its items. */
export async function ack(
  db: Executor,
  calls: readonly (readonly AckItem[])[],
): Promise<readonly (readonly AckResult[])[]> {
  const results: AckResult[][] = calls.map((call) => call.map(() => refused('partitionId is not a partition id')))
  const places: (readonly [call: number, item: number])[] = []
  const columns: (string | null)[][] = Array.from({ length: 9 }, () => [])
  calls.forEach((call, callAt) =>
    call.forEach((item, itemAt) => {
      const values = ackLine(item)
      if (values === null) return
      places.push([callAt, itemAt])
      columns[0]?.push(String(callAt))
      values.forEach((value, at) => columns[at + 1]?.push(value))
    }),
  )
  if (places.length === 0) return results
  for (const [ord, success, error, leaseReleased, dlq, noop] of await db.rows(ACK, columns)) {
    const place = places[Number(ord) - 1]
    const list = place && results[place[0]]
    if (!place || !list) continue
    list[place[1]] = {
      success: success === 't',
      error: error ?? null,
      leaseReleased: leaseReleased === 't',
      dlq: dlq === 't',
      noop: noop === 't',
    }
  }
  return results
}

function refused(error: string): AckResult {
  return { success: false, error, leaseReleased: false, dlq: false, noop: false }
}
