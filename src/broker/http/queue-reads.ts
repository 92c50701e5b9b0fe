// One queue seen closely: its partitions, and what a group has before it there.
import { queueDepth } from '../../operations/queue-depth.ts'
import { showQueue } from '../../operations/show-queue.ts'
import { optional, readFields, root } from '../../protocol/check.ts'
import { groupName, queueName } from '../../protocol/names.ts'
import type { PartitionSummary } from '../../protocol/queue-info.ts'
import { listed } from './queues.ts'
import { reading } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const missing = (): Answer => json('{"error":"Queue not found","code":"not_found"}', 404)

async function show(call: Call): Promise<Answer> {
  const name = queueName.read(call.params['queue'], root(), 'queue')
  const found = await reading(call, (db) => showQueue(db, name))
  if (found === null) return missing()
  return json(
    JSON.stringify({
      ...listed(found),
      partitionCount: found.partitions,
      partitions: found.partitionList.map(partitionOf),
      totals: found.messages,
    }),
  )
}

const partitionOf = (partition: PartitionSummary): Readonly<Record<string, unknown>> => ({
  id: partition.partitionId,
  name: partition.partition,
  createdAt: partition.createdAt,
  stats: { ...partition.messages, failed: null },
  messages: { ...partition.messages, failed: null },
  cursor: { totalConsumed: partition.cursor, batchesConsumed: null },
  lastActivity: partition.lastActivity,
  oldestMessage: partition.oldestMessage,
  newestMessage: partition.newestMessage,
})

const DEPTH_QUERY = { group: optional(groupName, null) } as const

async function depth(call: Call): Promise<Answer> {
  const name = queueName.read(call.params['queue'], root(), 'queue')
  const { group } = readFields(DEPTH_QUERY, readQuery(call.queryText), root())
  const found = await reading(call, (db) => queueDepth(db, name, group))
  if (found === null) return missing()
  return json(
    JSON.stringify({ ...found, effectivePending: found.conflation ? found.partitionsPending : found.pending }),
  )
}

const NOT_FOUND = '{"error":"Queue not found","code":"not_found"}'

export const queueReadRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/v1/resources/queues/:queue',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'One queue with its partitions, up to a thousand.',
    answers: {
      200: '{"id":"…","name":"…","namespace":"…","task":"…","createdAt":"…","options":{…},"partitionCount":1,"partitions":[{"id":"…","name":"…","createdAt":"…","stats":{…},"cursor":{…},"lastActivity":null,"oldestMessage":null,"newestMessage":null}],"totals":{…}}',
      404: NOT_FOUND,
    },
    handle: show,
  },
  {
    method: 'GET',
    path: '/api/v1/resources/queues/:queue/depth',
    access: 'read-only',
    rank: 'B',
    changes: false,
    about: 'What a group has before it; without a group, queue mode.',
    query: DEPTH_QUERY,
    answers: {
      200: '{"queue":"…","group":"…","pending":3,"partitionsPending":1,"conflation":false,"effectivePending":3,"partitions":[{"partition":"…","pending":3}]}',
      404: NOT_FOUND,
    },
    handle: depth,
  },
]
