// Close looks for dashboards: what is behind, what died and why, which partitions are silent, and how this process and its
// PostgreSQL do.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { activityByQueue, activitySeries, deadLetterCauses, silentPartitions } from '../../operations/read-activity.ts'
import { listGroups } from '../../operations/list-groups.ts'
import { listQueues } from '../../operations/list-queues.ts'
import { postgresStats } from '../../operations/postgres-stats.ts'
import { integerText, optional, readFields, root } from '../../protocol/check.ts'
import type { GroupInfo } from '../../protocol/group-info.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { readRoute } from './read-route.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const LIMIT = { limit: optional(integerText(1, LIMITS.listLimit), LIMITS.listLimitDefault) } as const
const limitOf = (call: Call): number => readFields(LIMIT, readQuery(call.queryText), root()).limit

const LAGGING = { minLagSeconds: optional(integerText(0, 1_000_000_000), 3_600) } as const
const WORST = 1_000

/** Group by group: the oldest message of each that is behind for so long. */
async function lagging(call: Call): Promise<Answer> {
  const { minLagSeconds } = readFields(LAGGING, readQuery(call.queryText), root())
  const groups = await reading(call, (db) => listGroups(db))
  const behind = groups.filter((group) => group.totalLag > 0 && group.maxTimeLagSeconds >= minLagSeconds)
  return json(JSON.stringify(behind.toSorted(byAge).slice(0, WORST).map(lagOf)))
}

const byAge = (a: GroupInfo, b: GroupInfo): number => b.maxTimeLagSeconds - a.maxTimeLagSeconds

const lagOf = (group: GroupInfo): object => ({
  consumer_group: group.group,
  queue_name: group.queue,
  partition_name: null,
  partition_id: null,
  worker_id: null,
  offset_lag: group.totalLag,
  time_lag_seconds: group.maxTimeLagSeconds,
  lag_hours: group.maxTimeLagSeconds / 3_600,
  partitions_with_lag: group.partitionsWithLag,
  oldest_unconsumed_at: new Date(Date.now() - group.maxTimeLagSeconds * 1_000).toISOString(),
  last_consumed_at: null,
})

async function queueLag(call: Call): Promise<Answer> {
  const groups = await reading(call, (db) => listGroups(db))
  const listed = groups.map(({ group, queue, totalLag, partitionsWithLag, maxTimeLagSeconds }) => ({
    queue,
    group,
    totalLag,
    partitionsWithLag,
    maxTimeLagSeconds,
  }))
  return json(JSON.stringify({ groups: listed.toSorted((a, b) => b.totalLag - a.totalLag).slice(0, WORST) }))
}

async function signatures(call: Call): Promise<Answer> {
  const limit = limitOf(call)
  return json(JSON.stringify({ signatures: await reading(call, (db) => deadLetterCauses(db, limit)) }))
}

async function liveness(call: Call): Promise<Answer> {
  const limit = limitOf(call)
  return json(JSON.stringify({ partitions: await reading(call, (db) => silentPartitions(db, limit)) }))
}

async function retention(call: Call): Promise<Answer> {
  const queues = await reading(call, (db) => listQueues(db))
  const listed = queues.map(({ queue, options, messages }) => ({
    queue,
    retentionEnabled: options.retentionEnabled,
    retentionSeconds: options.retentionSeconds,
    completedRetentionSeconds: options.completedRetentionSeconds,
    messages: messages.total,
    completed: messages.completed,
  }))
  return json(JSON.stringify({ queues: listed }))
}

async function workload(call: Call): Promise<Answer> {
  const queues = await reading(call, (db) => listQueues(db))
  const listed = queues.map(({ queue, namespace, task, partitions, messages }) => ({
    queue,
    namespace,
    task,
    partitions,
    ...messages,
  }))
  return json(JSON.stringify({ queues: listed.toSorted((a, b) => b.pending - a.pending).slice(0, WORST) }))
}

function parked(call: Call): Answer {
  const { parked: polls, waiting, lots } = call.parts.traffic.parking
  return json(JSON.stringify({ parkedPolls: polls, waitingPops: waiting, lots, replicas: 1 }))
}

/** Nothing of this is collected over time: it is as it is when asked for. */
const ONE_POINT = { bucketMinutes: 1, pointCount: 1 } as const

const lag = monitorEventLoopDelay({ resolution: 20 })
const NANOSECONDS = 1e6

function system(call: Call): Answer {
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
  const { user, system: kernel } = process.cpuUsage()
  lag.enable()
  const timestamp = new Date().toISOString()
  const uptimeSeconds = process.uptime()
  return json(
    JSON.stringify({
      ...ONE_POINT,
      timeRange: { from: timestamp, to: timestamp },
      replicas: [{ version: call.parts.version, uptimeSeconds }],
      timestamp,
      uptimeSeconds,
      memory: { rss, heapUsed, heapTotal, external },
      cpu: { userMicroseconds: user, systemMicroseconds: kernel },
      eventLoop: { meanDelayMs: finite(lag.mean / NANOSECONDS), maxDelayMs: finite(lag.max / NANOSECONDS) },
      database: {
        pool: call.parts.database.pool.totalCount,
        idle: call.parts.database.pool.idleCount,
        waiting: call.parts.database.pool.waitingCount,
      },
      version: call.parts.version,
    }),
  )
}

const finite = (value: number): number => (Number.isFinite(value) ? value : 0)

async function workers(call: Call): Promise<Answer> {
  const { admission, joiners, activity } = call.parts.traffic
  const [timeSeries, queues] = await reading(call, async (db) => [
    await activitySeries(db, { from: null, to: null, bucketMinutes: 1, queue: null }),
    await activityByQueue(db, 60, LIMITS.listLimitDefault),
  ])
  const verbs = Object.entries(joiners).map(([verb, { counters, waiting }]) => ({ verb, ...counters, waiting }))
  return json(
    JSON.stringify({
      timeRange: { from: timeSeries[0]?.at ?? null, to: timeSeries.at(-1)?.at ?? null },
      bucketMinutes: 1,
      pointCount: timeSeries.length,
      timestamp: new Date().toISOString(),
      running: admission.running,
      waiting: admission.waiting,
      verbs,
      totals: activity.totals,
      summary: activity.totals,
      timeSeries,
      workers: [{ running: admission.running, waiting: admission.waiting }],
      queues,
    }),
  )
}

async function postgres(call: Call): Promise<Answer> {
  return json(JSON.stringify(await reading(call, (db) => postgresStats(db))))
}

const AT = '/api/v1/analytics'

export const analyticsRoutes: readonly Route[] = [
  readRoute(
    '/api/v1/consumer-groups/lagging',
    'Groups whose oldest unfinished message is at least so old, the oldest first.',
    '[{"consumer_group":"…","queue_name":"…","partition_name":null,"partition_id":null,"worker_id":null,"offset_lag":3,"time_lag_seconds":7200.5,"lag_hours":2,"partitions_with_lag":1,"oldest_unconsumed_at":"…","last_consumed_at":null}]',
    lagging,
    LAGGING,
  ),
  readRoute(
    `${AT}/queue-lag`,
    'Groups by how far they are behind.',
    '{"groups":[{"queue":"…","group":"…","totalLag":3,"partitionsWithLag":1,"maxTimeLagSeconds":2.5}]}',
    queueLag,
  ),
  readRoute(
    `${AT}/dlq-signatures`,
    'Dead letters by queue, group, cause and first line of the error.',
    '{"signatures":[{"queue":"…","group":"…","cause":"failed","error":"…","letters":2,"firstAt":"…","lastAt":"…"}]}',
    signatures,
    LIMIT,
  ),
  readRoute(
    `${AT}/partition-liveness`,
    'Partitions by their last push, the longest silent first.',
    '{"partitions":[{"queue":"…","partition":"…","lastPushedAt":null,"messages":3}]}',
    liveness,
    LIMIT,
  ),
  readRoute(
    `${AT}/retention`,
    'What each queue keeps, and how long.',
    '{"queues":[{"queue":"…","retentionEnabled":false,"retentionSeconds":0,"completedRetentionSeconds":0,"messages":3,"completed":1}]}',
    retention,
  ),
  readRoute(
    `${AT}/workload`,
    'Queues by what waits in them.',
    '{"queues":[{"queue":"…","namespace":"…","task":"…","partitions":1,"total":3,"pending":2,"processing":1,"completed":0,"deadLetter":0}]}',
    workload,
  ),
  readRoute(
    `${AT}/queue-parked-replicas`,
    'Polls that wait at this broker.',
    '{"parkedPolls":0,"waitingPops":0,"lots":0,"replicas":1}',
    parked,
  ),
  readRoute(
    `${AT}/system-metrics`,
    'Memory, processor time and event loop of this process.',
    '{"timeRange":{"from":"…","to":"…"},"bucketMinutes":1,"pointCount":1,"replicas":[{"version":"…","uptimeSeconds":1.5}],"timestamp":"…","uptimeSeconds":1.5,"memory":{…},"cpu":{…},"eventLoop":{"meanDelayMs":0,"maxDelayMs":0},"database":{"pool":2,"idle":1,"waiting":0},"version":"…"}',
    system,
  ),
  readRoute(
    `${AT}/worker-metrics`,
    'Calls in flight and joined at this broker, what it did since its start, and what all did in the last hour.',
    '{"timeRange":{"from":"…","to":"…"},"bucketMinutes":1,"pointCount":61,"summary":{…},"timeSeries":[{"at":"…","pushed":1,"delivered":1,"acked":1,"failed":0}],"workers":[{"running":0,"waiting":0}],"queues":[{"queue":"…","pushed":1,"delivered":1,"acked":1,"failed":0}],"timestamp":"…","running":0,"waiting":0,"verbs":[{"verb":"push","calls":1,"inputs":2,"splits":0,"waiting":0}],"totals":{"pushed":1,"delivered":1,"acked":1,"failed":0}}',
    workers,
  ),
  readRoute(
    `${AT}/postgres-stats`,
    'Sizes of the tables and what the sessions of this database do.',
    '{"databaseBytes":1,"tables":[{"table":"message","bytes":1,"liveRows":1,"deadRows":0}],"sessions":{"active":1,"idle":2,"idleInTransaction":0},"oldestTransactionSeconds":0}',
    postgres,
  ),
]
