// The calls about consumer groups, straight to PostgreSQL; whoever waits for a group that moved looks again.
import type { Database } from '../../db/pool.ts'
import { deleteGroup } from '../../operations/delete-group.ts'
import { groupDetail } from '../../operations/group-detail.ts'
import { listGroups } from '../../operations/list-groups.ts'
import { queueDepth } from '../../operations/queue-depth.ts'
import { seekGroup } from '../../operations/seek-group.ts'
import { setSubscription } from '../../operations/set-subscription.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { groupMoved } from '../../traffic/group-moved.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import type { GroupCalls } from '../groups/groups-client.ts'
import type { Repeatedly } from './repeated.ts'

export function groupCalls(database: Database, traffic: Traffic, call: Repeatedly): GroupCalls {
  const { reader } = database

  return {
    list: async (queue) => call(true, async () => listGroups(reader, queue)),
    show: async (group) => call(true, async () => groupDetail(reader, group)),
    depth: async (queue, group) => call(true, async () => queueDepth(reader, queue, group)),
    async seek(seek) {
      const partitions = await call(true, async () => seekGroup(database, seek))
      if (partitions === null) {
        throw new LockstepError('not_found', `there is no queue '${seek.queue}', or it has no such partition`)
      }
      groupMoved(traffic, seek.queue, seek.group)
      return partitions
    },
    async delete(deletion) {
      const { partitions } = await call(true, async () => deleteGroup(database, deletion))
      groupMoved(traffic, deletion.queue, deletion.group)
      return partitions
    },
    setSubscription: async (group, timestamp) => call(true, async () => setSubscription(database, group, timestamp)),
  }
}
