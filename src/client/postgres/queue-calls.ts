// The calls that change queues, straight to PostgreSQL, checked as the broker checks them.
import type { Database } from '../../db/pool.ts'
import { configure } from '../../operations/configure.ts'
import { deleteQueue } from '../../operations/delete-queue.ts'
import { checkOptions } from '../../protocol/configure-request.ts'
import type { Traffic } from '../../traffic/traffic.ts'
import { effectiveSettings } from '../queue-settings.ts'
import type { Transport } from '../transport.ts'

export function queueCalls(database: Database, traffic: Traffic): Pick<Transport, 'configure' | 'deleteQueue'> {
  /** What waits for this queue looks again, from the beginning. */
  function moved(queue: string): void {
    traffic.floors.forget(queue, null)
    traffic.committed(queue)
  }

  return {
    async configure(call) {
      const { queue, namespace, task, options } = await configure(database, {
        ...call,
        options: checkOptions(call.options),
      })
      moved(queue)
      return { queue, namespace, task, options: effectiveSettings(options) }
    },

    async deleteQueue(queue) {
      const deleted = await deleteQueue(database, queue)
      moved(queue)
      return deleted
    },
  }
}
