// Refuses a queue that is not there, for commands whose operation would make it: a mistyped name must not leave a queue behind.

import type { Database } from '../db/pool.ts'
import { listQueues } from '../operations/list-queues.ts'
import { noSuchQueue } from './no-such-queue.ts'

export async function demandQueue(database: Database, name: string): Promise<void> {
  const queues = await listQueues(database.reader)
  if (!queues.some(({ queue }) => queue === name)) throw await noSuchQueue(database, name)
}
