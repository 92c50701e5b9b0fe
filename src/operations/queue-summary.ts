// Reads a row of lockstep.list_queues. Lists and the view of one queue share it.
import type { Row } from '../db/executor.ts'
import type { QueueSummary } from '../protocol/queue-info.ts'
import { readOptions } from './read-options.ts'

export function queueSummary(row: Row): QueueSummary {
  const [queueId, queue, namespace, task, createdAt, options, partitions, total, pending, processing, completed, dead] =
    row
  return {
    queueId: queueId ?? '',
    queue: queue ?? '',
    namespace: namespace ?? '',
    task: task ?? '',
    createdAt: createdAt ?? '',
    options: readOptions(options),
    partitions: Number(partitions),
    messages: {
      total: Number(total),
      pending: Number(pending),
      processing: Number(processing),
      completed: Number(completed),
      deadLetter: Number(dead),
    },
  }
}
