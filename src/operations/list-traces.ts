// Reads traces: of one message, under one name, and the names themselves.
import type { Executor, Row } from '../db/executor.ts'
import { showPayload } from '../db/vault/open-payload.ts'
import type { NamedTrace, Page, Trace, TraceName } from '../protocol/trace.ts'

const OF_MESSAGE =
  'select id, event_type, data, group_name, worker_id, created_at, to_json(names) from lockstep.message_traces($1::text, $2::text, $3::int)'
const OF_NAME =
  'select id, event_type, data, group_name, worker_id, created_at, to_json(names), transaction_id, partition_id, queue, partition, message_id, payload, total from lockstep.named_traces($1::text, $2::int, $3::int)'
const NAMES = 'select * from lockstep.trace_names($1::int, $2::int)'

export async function messageTraces(
  db: Executor,
  partitionId: string,
  transactionId: string,
  limit: number,
): Promise<readonly Trace[]> {
  return (await db.rows(OF_MESSAGE, [partitionId, transactionId, String(limit)])).map(traceOf)
}

export async function namedTraces(
  db: Executor,
  name: string,
  page: Page,
): Promise<{ readonly traces: readonly NamedTrace[]; readonly total: number }> {
  const rows = await db.rows(OF_NAME, [name, String(page.limit), String(page.offset)])
  const traces = rows.map((row) => ({
    ...traceOf(row),
    transactionId: row[7] ?? '',
    partitionId: row[8] ?? '',
    queue: row[9] ?? null,
    partition: row[10] ?? null,
    payload: payloadOf(db, row),
  }))
  return { traces, total: Number(rows[0]?.[13] ?? 0) }
}

export async function traceNames(
  db: Executor,
  page: Page,
): Promise<{ readonly names: readonly TraceName[]; readonly total: number }> {
  const rows = await db.rows(NAMES, [String(page.limit), String(page.offset)])
  const names = rows.map(([name, traces, messages, lastSeen]) => ({
    name: name ?? '',
    traces: Number(traces),
    messages: Number(messages),
    lastSeen: lastSeen ?? '',
  }))
  return { names, total: Number(rows[0]?.[4] ?? 0) }
}

/** Null when the message is gone, or is sealed with a key that is not here. */
function payloadOf(db: Executor, row: Row): string | null {
  const [queue = null, partition = null, messageId = null, payload = null] = row.slice(9, 13)
  if (payload === null) return null
  const place = { queue: queue ?? '', partition: partition ?? '', messageId: messageId ?? '' }
  return showPayload(db.vault, place, payload).payload
}

function traceOf([id, eventType, data, group, workerId, createdAt, names]: Row): Trace {
  // The text is to_json of a text array: strings and nothing else.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const listed = JSON.parse(names ?? '[]') as readonly string[]
  return {
    id: id ?? '',
    eventType: eventType ?? '',
    data: data ?? 'null',
    group: group ?? null,
    workerId: workerId ?? null,
    createdAt: createdAt ?? '',
    names: listed,
  }
}
