// Reads by offset for readers that keep their own position: no lease, no cursor, no group. A fetch may wait for more; a client that
// goes away ends its waiting.
import { changedPartitions } from '../../operations/changed-partitions.ts'
import { fetchMessages } from '../../operations/fetch-messages.ts'
import { offsetsAt } from '../../operations/offsets-at.ts'
import { waitingPartitions } from '../../operations/waiting-partitions.ts'
import { integerText, optional, readFields, root } from '../../protocol/check.ts'
import type { FetchedEntry, FetchEntry } from '../../protocol/fetch.ts'
import {
  CHANGED_ENTRY,
  decodeChanged,
  decodeFetch,
  decodeOffsets,
  FETCH_BODY,
  FETCH_ENTRY,
  OFFSET_ENTRY,
} from '../../protocol/fetch-request.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { queueName } from '../../protocol/names.ts'
import { fetchWaiting } from '../../traffic/fetch-waiting.ts'
import { listed } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { readRoute } from './read-route.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

async function fetchRecords(call: Call): Promise<Answer | null> {
  const request = decodeFetch(bodyText(call.body))
  const gone = new AbortController()
  call.response.once('close', () => gone.abort())
  const look = (): Promise<readonly FetchedEntry[]> => reading(call, (db) => fetchMessages(db, request))
  const entries = await fetchWaiting(request, look, call.parts.traffic.parking, gone.signal)
  if (gone.signal.aborted) return null
  return json(`{"entries":[${entries.map((found, at) => entryText(request.entries[at], found)).join(',')}]}`)
}

function entryText(entry: FetchEntry | undefined, { records, fault, ...bounds }: FetchedEntry): string {
  const read = records.map(
    ({ offset, transactionId, payload, createdAt }) =>
      `{"offset":${offset},"transactionId":${JSON.stringify(transactionId)},"payload":${payload},"ts":"${createdAt}"}`,
  )
  const error = fault === null ? '' : `,"error":"${fault}"`
  return (
    `{"queue":${JSON.stringify(entry?.queue ?? '')},"partition":${JSON.stringify(entry?.partition ?? '')},"records":[${read.join(',')}],` +
    `"highWatermark":${bounds.highWatermark},"logStartOffset":${bounds.logStartOffset}${error}}`
  )
}

async function offsets(call: Call): Promise<Answer> {
  const entries = decodeOffsets(bodyText(call.body))
  const found = await reading(call, (db) => offsetsAt(db, entries))
  const answered = found.map(({ createdAt, fault, ...at }, index) => ({
    queue: entries[index]?.queue,
    partition: entries[index]?.partition,
    ...at,
    timestamp: createdAt,
    ...(fault === null ? {} : { error: fault }),
  }))
  return json(JSON.stringify({ entries: answered }))
}

async function changed(call: Call): Promise<Answer> {
  const entries = decodeChanged(bodyText(call.body))
  const { pages, ...times } = await reading(call, (db) => changedPartitions(db, entries))
  const answered = pages.map(({ partitions, next, fault }, index) => {
    const queue = entries[index]?.queue
    if (fault !== null) return { queue, error: fault }
    return { queue, partitions: partitions.map(({ partitionId: id, ...one }) => ({ id, ...one })), next }
  })
  return json(JSON.stringify({ entries: answered, ...times }))
}

const WAITING_QUERY = {
  queue: optional(queueName, null),
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
} as const

async function waiting(call: Call): Promise<Answer> {
  const { queue, limit } = readFields(WAITING_QUERY, readQuery(call.queryText), root())
  const partitions = await reading(call, (db) => waitingPartitions(db, queue, limit))
  return json(JSON.stringify({ partitions: partitions.map(({ partitionId: id, ...one }) => ({ id, ...one })) }))
}

const read = (row: Pick<Route, 'path' | 'about' | 'body' | 'answers' | 'handle'>): Route => ({
  method: 'POST',
  access: 'read-only',
  rank: 'C',
  changes: false,
  ...row,
})

export const fetchRoutes: readonly Route[] = [
  read({
    path: '/api/v1/fetch',
    about: `Reads kept messages by offset: no lease, no cursor, no group. One call brings at most ${LIMITS.fetchBytes / 1_048_576} MiB and ${LIMITS.fetchRecords} records; an entry ends early where its own or the call's maxBytes are reached, after one record at least while the call has room. With maxWaitMs it waits for minBytes of payloads, unless an entry is at fault.`,
    body: [
      { at: '', fields: { entries: listed(false, LIMITS.fetchEntries), ...FETCH_BODY } },
      { at: 'entries[]', fields: FETCH_ENTRY },
    ],
    answers: {
      200: '{"entries":[{"queue":"…","partition":"…","records":[{"offset":0,"transactionId":"…","payload":…,"ts":"…"}],"highWatermark":1,"logStartOffset":0}]}; an entry may have `"error":"OFFSET_OUT_OF_RANGE"` or `"UNKNOWN_TOPIC_OR_PARTITION"`.',
    },
    handle: fetchRecords,
  }),
  read({
    path: '/api/v1/fetch/offsets',
    about:
      'For each partition the offset of its first kept message from a time on; past the last one, the next offset.',
    body: [
      { at: '', fields: { entries: listed(false, LIMITS.fetchEntries) } },
      { at: 'entries[]', fields: OFFSET_ENTRY },
    ],
    answers: {
      200: '{"entries":[{"queue":"…","partition":"…","offset":3,"highWatermark":9,"logStartOffset":0,"timestamp":"…"}]}; an entry may have `"error":"UNKNOWN_TOPIC_OR_PARTITION"`.',
    },
    handle: offsets,
  }),
  read({
    path: '/api/v1/partitions/changed',
    about:
      'Partitions that were written from a time on, in the order in which they were made, page by page. Every write before safeTime is in the answer, so it is the next since; it is only a floor where safeTimeDegraded says so. A page may hold fewer than its limit, and none, and still have a next.',
    body: [
      { at: '', fields: { entries: listed(false, LIMITS.changedEntries) } },
      { at: 'entries[]', fields: CHANGED_ENTRY },
    ],
    answers: {
      200: '{"entries":[{"queue":"…","partitions":[{"id":"…","name":"…","lastOffset":0,"logStart":0,"lastWriteAt":"…"}],"next":null}],"safeTime":"…","safeTimeDegraded":false}; an entry may be `{"queue":"…","error":"UNKNOWN_TOPIC_OR_PARTITION"}`, or `"BAD_CURSOR"`.',
    },
    handle: changed,
  }),
  readRoute(
    '/api/v1/resources/partitions',
    'Partitions with most waiting before the slowest group of each.',
    '{"partitions":[{"id":"…","queue":"…","partition":"…","pending":3,"processing":1,"lagSeconds":2.5}]}',
    waiting,
    WAITING_QUERY,
  ),
]
