// Groups moved and forgotten. Both end the group's live leases in the same commit; what was remembered here of where its
// work begins is forgotten with it, and its parked pops look again at once.
import { deleteGroup } from '../../operations/delete-group.ts'
import { seekGroup } from '../../operations/seek-group.ts'
import { boolean, booleanText, optional, readFields, refuse, root } from '../../protocol/check.ts'
import type { SeekTarget } from '../../protocol/group-info.ts'
import { groupName, partitionName, queueName } from '../../protocol/names.ts'
import { instant } from '../../protocol/pop-request.ts'
import { recordOf, sliced } from '../../protocol/request-body.ts'
import { groupMoved } from '../../traffic/group-moved.ts'
import { bodyText } from './read-body.ts'
import { noting } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const DELETE_QUERY = { deleteMetadata: optional(booleanText, true) } as const

async function remove(call: Call): Promise<Answer> {
  const group = groupName.read(call.params['group'], root(), 'group')
  const named = call.params['queue']
  const queue = named === undefined ? null : queueName.read(named, root(), 'queue')
  const { deleteMetadata } = readFields(DELETE_QUERY, readQuery(call.queryText), root())
  const { partitions, queues } = await noting(call, (db) => deleteGroup(db, { group, queue, metadata: deleteMetadata }))
  groupMoved(call.parts.traffic, queue, group)
  return json(
    JSON.stringify({
      success: true,
      consumerGroup: group,
      ...(queue === null ? {} : { queueName: queue }),
      deletedPartitions: partitions,
      metadataDeleted: deleteMetadata && queues > 0,
    }),
  )
}

const SEEK_BODY = { timestamp: optional(instant, null), toEnd: optional(boolean, false) } as const

async function seek(call: Call): Promise<Answer> {
  const group = groupName.read(call.params['group'], root(), 'group')
  const queue = queueName.read(call.params['queue'], root(), 'queue')
  const partition = call.params['partition'] ?? null
  if (partition !== null) partitionName.read(partition, root(), 'partition')
  const to = target(call)
  if (to === null) {
    return json('{"success":false,"error":"Must specify toEnd=true or a timestamp","code":"bad_request"}', 400)
  }
  const count = await noting(call, (db) => seekGroup(db, { group, queue, partition, to }))
  if (count === null) {
    const error = 'Queue not found or has no partitions'
    return json(
      JSON.stringify({ success: false, error, code: 'not_found', consumerGroup: group, queueName: queue }),
      404,
    )
  }
  groupMoved(call.parts.traffic, queue, group)
  return json(
    JSON.stringify({
      success: true,
      consumerGroup: group,
      queueName: queue,
      partitionName: partition,
      seekToEnd: to === 'end',
      targetTimestamp: typeof to === 'object' ? to.timestamp : null,
      partitionsUpdated: count,
      updated: true,
    }),
  )
}

/** An empty body is the end; null when the body says neither. */
function target(call: Call): SeekTarget | null {
  if (call.body.length === 0) return 'end'
  const { timestamp, toEnd } = readFields(SEEK_BODY, recordOf(sliced(bodyText(call.body), {}).envelope, root()), root())
  if (toEnd && timestamp !== null) refuse(root(), 'toEnd', 'false or absent beside a timestamp')
  if (toEnd) return 'end'
  return timestamp === null ? null : { timestamp }
}

const DELETED = '{"success":true,"consumerGroup":"…","queueName":"…","deletedPartitions":1,"metadataDeleted":true}'
const SOUGHT =
  '{"success":true,"consumerGroup":"…","queueName":"…","partitionName":null,"seekToEnd":false,"targetTimestamp":"…","partitionsUpdated":1,"updated":true}'

const removal = (path: string, about: string): Route => ({
  method: 'DELETE',
  path,
  access: 'admin',
  rank: 'A',
  changes: true,
  about,
  query: DELETE_QUERY,
  answers: { 200: DELETED },
  handle: remove,
})

const seeking = (path: string, rank: Route['rank'], about: string): Route => ({
  method: 'POST',
  path,
  access: 'read-write',
  rank,
  changes: true,
  about,
  body: SEEK_BODY,
  answers: {
    200: SOUGHT,
    400: '{"success":false,"error":"Must specify toEnd=true or a timestamp"}',
    404: '{"success":false,"error":"Queue not found or has no partitions"}',
  },
  handle: seek,
})

export const consumerGroupRoutes: readonly Route[] = [
  removal('/api/v1/consumer-groups/:group', 'Forgets a group on every queue; its name starts fresh.'),
  removal('/api/v1/consumer-groups/:group/queues/:queue', 'Forgets a group on one queue.'),
  seeking(
    '/api/v1/consumer-groups/:group/queues/:queue/seek',
    'A',
    'Moves a group to just before the first message created at or after a time, or to the end.',
  ),
  seeking(
    '/api/v1/consumer-groups/:group/queues/:queue/partitions/:partition/seek',
    'B',
    'The same for one partition.',
  ),
]
