// How the system stands: counts and rates over time, queue by queue, and what this broker holds back.
import { activitySeries, activityByQueue } from '../../operations/read-activity.ts'
import { listGroups } from '../../operations/list-groups.ts'
import { listQueues } from '../../operations/list-queues.ts'
import { showQueue } from '../../operations/show-queue.ts'
import { integerText, oneOf, optional, readFields, refuse, root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { queueName } from '../../protocol/names.ts'
import { instant } from '../../protocol/pop-request.ts'
import { sumOf } from './overview.ts'
import { listed } from './queues.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { readRoute } from './read-route.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const MINUTES = { minute: 1, hour: 60, day: 1_440 } as const
const POINTS = 200

const RANGE = { from: optional(instant, null), to: optional(instant, null) } as const
const ANALYTICS = { ...RANGE, interval: optional(oneOf('minute', 'hour', 'day'), 'minute') } as const
const PAGE = {
  limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault),
  offset: optional(integerText(0, 1_000_000_000), 0),
} as const

/** So many minutes to a bucket that the range has at most `POINTS` of them. */
function bucketOf(from: string | null, to: string | null): number {
  const end = to === null ? Date.now() : Date.parse(to)
  const start = from === null ? end - 3_600_000 : Date.parse(from)
  if (!(end > start)) refuse(root(), 'to', 'later than from')
  return Math.max(1, Math.ceil((end - start) / 60_000 / POINTS))
}

async function status(call: Call): Promise<Answer> {
  const { from, to } = readFields(RANGE, readQuery(call.queryText), root())
  const bucketMinutes = bucketOf(from, to)
  const [queues, groups, points] = await reading(call, async (db) => [
    await listQueues(db),
    await listGroups(db),
    await activitySeries(db, { from, to, bucketMinutes, queue: null }),
  ])
  const messages = sumOf(queues)
  const { admission, parking } = call.parts.traffic
  return json(
    JSON.stringify({
      timeRange: { from: points[0]?.at ?? from, to: points.at(-1)?.at ?? to },
      bucketMinutes,
      pointCount: points.length,
      throughput: points.map(({ at, pushed, delivered, acked, failed }) => ({
        timestamp: at,
        ingested: pushed,
        processed: delivered,
        acked,
        failed,
        ingestedPerSecond: pushed / 60 / bucketMinutes,
        processedPerSecond: delivered / 60 / bucketMinutes,
      })),
      queues: queues.length,
      messages: { ...messages, failed: null },
      leases: { active: groups.reduce((sum, group) => sum + group.leased, 0) },
      deadLetterQueue: { total: messages.deadLetter },
      workers: [{ parkedPolls: parking.parked, callsRunning: admission.running, callsWaiting: admission.waiting }],
      errors: points.reduce((sum, point) => sum + point.failed, 0),
      statsAge: 0,
    }),
  )
}

async function queueList(call: Call): Promise<Answer> {
  const { limit, offset } = readFields(PAGE, readQuery(call.queryText), root())
  const queues = await reading(call, (db) => listQueues(db))
  const page = queues.slice(offset, offset + limit).map(listed)
  return json(JSON.stringify({ queues: page, pagination: { limit, offset, total: queues.length } }))
}

async function oneQueue(call: Call): Promise<Answer> {
  const name = queueName.read(call.params['queue'], root(), 'queue')
  const [found, recent] = await reading(call, async (db) => [
    await showQueue(db, name),
    await activitySeries(db, { from: null, to: null, bucketMinutes: 60, queue: name }),
  ])
  if (found === null) return json('{"error":"Queue not found","code":"not_found"}', 404)
  const { options, ...queue } = listed(found)
  return json(
    JSON.stringify({
      queue: { ...queue, config: options },
      config: options,
      partitions: found.partitionList,
      totals: found.messages,
      lastHour: recent.at(-1) ?? null,
    }),
  )
}

async function analytics(call: Call): Promise<Answer> {
  const { from, to, interval } = readFields(ANALYTICS, readQuery(call.queryText), root())
  bucketOf(from, to)
  const points = await reading(call, (db) =>
    activitySeries(db, { from, to, bucketMinutes: MINUTES[interval], queue: null }),
  )
  return json(
    JSON.stringify({
      dataPoints: points.map(({ at, pushed, delivered }) => ({
        timestamp: at,
        messages: pushed,
        processed: delivered,
      })),
      interval,
      from: points[0]?.at ?? from,
      to: points.at(-1)?.at ?? to,
    }),
  )
}

/** Nothing is buffered: a push is answered when it is committed. What waits here waits for PostgreSQL. */
async function buffers(call: Call): Promise<Answer> {
  const { database } = await call.parts.health.ask()
  const { admission } = call.parts.traffic
  const worker = { running: admission.running, waiting: admission.waiting }
  return json(JSON.stringify({ pending: 0, failed: 0, dbHealthy: database === 'up', worker }))
}

const refresh = (): Answer => json('{"success":true,"refreshed":false,"engine":"lockstep"}')

async function operations(call: Call): Promise<Answer> {
  const { limit } = readFields(PAGE, readQuery(call.queryText), root())
  const queues = await reading(call, (db) => activityByQueue(db, 60, limit))
  return json(JSON.stringify({ minutes: 60, queues }))
}

const COUNTS = '"messages":{"total":1,"pending":1,"processing":0,"completed":0,"deadLetter":0}'

export const statusRoutes: readonly Route[] = [
  readRoute(
    '/api/v1/status',
    'Counts now and what brokers did over a range of time, the last hour unless told otherwise.',
    `{"timeRange":{"from":"…","to":"…"},"bucketMinutes":1,"pointCount":61,"throughput":[{"timestamp":"…","ingested":1,"processed":1,"acked":1,"failed":0,"ingestedPerSecond":0.1,"processedPerSecond":0.1}],"queues":1,${COUNTS},"leases":{"active":0},"deadLetterQueue":{"total":0},"workers":[{…}],"errors":0,"statsAge":0}`,
    status,
    RANGE,
  ),
  readRoute(
    '/api/v1/status/queues',
    'Queues with options and counts, page by page.',
    `{"queues":[{"name":"…",${COUNTS},"options":{…}}],"pagination":{"limit":100,"offset":0,"total":1}}`,
    queueList,
    PAGE,
  ),
  {
    ...readRoute('/api/v1/status/queues/:queue', 'One queue with its partitions and its last hour.', '', oneQueue),
    answers: {
      200: '{"queue":{…,"config":{…}},"config":{…},"partitions":[…],"totals":{…},"lastHour":{"at":"…","pushed":1,"delivered":1,"acked":1,"failed":0}}',
      404: '{"error":"Queue not found","code":"not_found"}',
    },
  },
  readRoute(
    '/api/v1/status/analytics',
    'Messages per minute, hour or day.',
    '{"dataPoints":[{"timestamp":"…","messages":1,"processed":1}],"interval":"minute","from":"…","to":"…"}',
    analytics,
    ANALYTICS,
  ),
  readRoute(
    '/api/v1/status/buffers',
    'What this broker holds back: nothing, since a push is answered when it is committed.',
    '{"pending":0,"failed":0,"dbHealthy":true,"worker":{"running":0,"waiting":0}}',
    buffers,
  ),
  readRoute(
    '/api/v1/analytics/queue-ops',
    'What brokers did per queue in the last hour, the busiest first.',
    '{"minutes":60,"queues":[{"queue":"…","pushed":1,"delivered":1,"acked":1,"failed":0}]}',
    operations,
    PAGE,
  ),
  {
    method: 'POST',
    path: '/api/v1/stats/refresh',
    access: 'admin',
    rank: 'B',
    changes: false,
    about: 'Does nothing: counts are read from the rows when asked for.',
    answers: { 200: '{"success":true,"refreshed":false,"engine":"lockstep"}' },
    handle: refresh,
  },
]
