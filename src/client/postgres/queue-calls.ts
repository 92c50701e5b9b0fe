// The calls about queues and groups themselves, straight to PostgreSQL, checked as the broker checks them.
import type { Database } from '../../db/pool.ts'
import { configure } from '../../operations/configure.ts'
import { deleteGroup } from '../../operations/delete-group.ts'
import { deleteQueue } from '../../operations/delete-queue.ts'
import { seekGroup } from '../../operations/seek-group.ts'
import { checkOptions } from '../../protocol/configure-request.ts'
import { LockstepError } from '../../protocol/errors.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import { effectiveSettings } from '../queue-settings.ts'
import type { Transport } from '../transport.ts'

export function queueCalls(
  database: Database,
  traffic: Traffic,
): Pick<Transport, 'configure' | 'deleteQueue' | 'seekGroup' | 'deleteGroup'> {
  /** What waits for this queue looks again, from the beginning. */
  function moved(queue: string, group: string | null): void {
    traffic.floors.forget(queue, group)
    traffic.committed(queue)
  }

  return {
    async configure(call) {
      const { queue, namespace, task, options } = await configure(database, {
        ...call,
        options: checkOptions(call.options),
      })
      moved(queue, null)
      return { queue, namespace, task, options: effectiveSettings(options) }
    },

    async deleteQueue(queue) {
      const deleted = await deleteQueue(database, queue)
      moved(queue, null)
      return deleted
    },

    async seekGroup(group, queue, to) {
      const partitions = await seekGroup(database, { group, queue, to })
      if (partitions === null) throw new LockstepError('not_found', `there is no queue '${queue}'`)
      moved(queue, group)
    },

    async deleteGroup(group, queue) {
      await deleteGroup(database, { group, queue })
      moved(queue, group)
    },
  }
}
