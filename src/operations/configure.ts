// Configure: makes a queue or changes its options. What an absent, a null or a wrong option means is decided in the
// database, from the same table of options; the answer is always the complete effective set.
import type { Executor } from '../db/executor.ts'
import type { QueueInfo } from '../protocol/queue-info.ts'
import type { QueueOptionName } from '../protocol/queue-options.ts'
import { readOptions } from './read-options.ts'

export interface Configuration {
  readonly queue: string
  /** Null or empty keeps what is stored. */
  readonly namespace: string | null
  readonly task: string | null
  readonly options: Readonly<Partial<Record<QueueOptionName, number | boolean | string | null>>>
  readonly mode: 'merge' | 'replace'
}

const CONFIGURE = 'select * from lockstep.configure($1, $2::json, $3, $4, $5)'

export async function configure(db: Executor, configuration: Configuration): Promise<QueueInfo> {
  const { queue, namespace, task, options, mode } = configuration
  const [row] = await db.rows(CONFIGURE, [queue, JSON.stringify(options), namespace, task, mode])
  db.vault?.forget([queue])
  return {
    queueId: row?.[0] ?? '',
    queue: row?.[1] ?? queue,
    namespace: row?.[2] ?? '',
    task: row?.[3] ?? '',
    createdAt: row?.[4] ?? '',
    options: readOptions(row?.[5]),
  }
}
