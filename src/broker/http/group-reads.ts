// Groups as people see them: all with their backlog, one with its lanes, and where a group starts on new partitions.
import { groupDetail } from '../../operations/group-detail.ts'
import { listGroups } from '../../operations/list-groups.ts'
import { setSubscription } from '../../operations/set-subscription.ts'
import { optional, readFields, root } from '../../protocol/check.ts'
import type { GroupInfo, GroupLane } from '../../protocol/group-info.ts'
import { groupName, queueName } from '../../protocol/names.ts'
import { instant } from '../../protocol/pop-request.ts'
import { recordOf, sliced } from '../../protocol/request-body.ts'
import { bodyText } from './read-body.ts'
import { noting, reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const LIST_QUERY = { queue: optional(queueName, null) } as const

async function list(call: Call): Promise<Answer> {
  const { queue } = readFields(LIST_QUERY, readQuery(call.queryText), root())
  const groups = await reading(call, (db) => listGroups(db, queue))
  return json(JSON.stringify(groups.map(listed)))
}

function listed(info: GroupInfo): Readonly<Record<string, unknown>> {
  return {
    name: info.group,
    topics: [info.queue],
    queueName: info.queue,
    members: info.leased,
    partitionCursors: info.cursors,
    partitionsWithLag: info.partitionsWithLag,
    totalLag: info.totalLag,
    maxTimeLag: info.maxTimeLagSeconds,
    state: info.totalLag === 0 ? 'Stable' : 'Lagging',
    storage: 'segments',
    subscriptionMode: info.subscriptionMode,
    subscriptionTimestamp: info.startsAt,
    subscriptionCreatedAt: info.createdAt,
    conflation: info.conflation,
  }
}

async function show(call: Call): Promise<Answer> {
  const group = groupName.read(call.params['group'], root(), 'group')
  const lanes = await reading(call, (db) => groupDetail(db, group))
  const queues = new Map<string, GroupLane[]>()
  for (const lane of lanes) queues.set(lane.queue, [...(queues.get(lane.queue) ?? []), lane])
  const entries = [...queues].map(([queue, own]) => {
    const partitions = own.map((lane) => ({
      partition: lane.partition,
      workerId: lane.leaseId,
      lastConsumedAt: null,
      totalConsumed: lane.committed ?? 0,
      committed: lane.committed,
      offsetLag: lane.offsetLag,
      timeLagSeconds: lane.timeLagSeconds,
      leaseActive: lane.leaseActive,
      leaseExpiresAt: lane.leaseExpiresAt,
      failures: lane.failures,
      crashes: lane.crashes,
    }))
    return `${JSON.stringify(queue)}:${JSON.stringify({ conflation: own[0]?.conflation ?? false, partitions })}`
  })
  // Written key by key: a queue may be called __proto__.
  return json(`{${entries.join(',')}}`)
}

const SUBSCRIPTION = { subscriptionTimestamp: instant } as const

async function subscribe(call: Call): Promise<Answer> {
  const group = groupName.read(call.params['group'], root(), 'group')
  const body = recordOf(sliced(bodyText(call.body), {}).envelope, root())
  const { subscriptionTimestamp } = readFields(SUBSCRIPTION, body, root())
  const rowsUpdated = await noting(call, (db) => setSubscription(db, group, subscriptionTimestamp))
  return json(JSON.stringify({ success: true, consumerGroup: group, newTimestamp: subscriptionTimestamp, rowsUpdated }))
}

export const groupReadRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/consumer-groups',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'All groups, or those of one queue; one entry per group and queue.',
    query: LIST_QUERY,
    answers: {
      200: '[{"name":"…","topics":["…"],"queueName":"…","members":0,"partitionCursors":1,"partitionsWithLag":0,"totalLag":0,"maxTimeLag":0,"state":"Stable|Lagging","storage":"segments","subscriptionMode":"all","subscriptionTimestamp":null,"subscriptionCreatedAt":"…","conflation":false}]',
    },
    handle: list,
  },
  {
    method: 'GET',
    path: '/api/v1/consumer-groups/:group',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'The lanes of one group by queue, those with work first.',
    answers: {
      200: '{"<queue>":{"conflation":false,"partitions":[{"partition":"…","workerId":null,"lastConsumedAt":null,"totalConsumed":0,"committed":0,"offsetLag":0,"timeLagSeconds":0,"leaseActive":false}]}}',
    },
    handle: show,
  },
  {
    method: 'POST',
    path: '/api/v1/consumer-groups/:group/subscription',
    access: 'read-write',
    rank: 'B',
    changes: true,
    about: 'Changes where a group starts on partitions it has not seen; moves no cursor.',
    body: SUBSCRIPTION,
    answers: { 200: '{"success":true,"consumerGroup":"…","newTimestamp":"…","rowsUpdated":1}' },
    handle: subscribe,
  },
]
