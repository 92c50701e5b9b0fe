// `lockstep.queues`: all queues, or one closely, with their options and the counts of their messages. What changes a queue is
// said on the queue itself.
import { optional, readFields, root } from '../../protocol/check.ts'
import { namespaceName } from '../../protocol/names.ts'
import type { PartitionSummary, QueueSummary } from '../../protocol/queue-info.ts'
import { definitionOf } from '../queue-definition.ts'
import type { EffectiveSettings } from '../queue-settings.ts'
import type { NamedQueue } from '../timers/timer-input.ts'

export interface QueueOverview extends Omit<QueueSummary, 'options'> {
  readonly options: EffectiveSettings
}

export interface QueueView extends QueueOverview {
  /** By name, at most 1,000. */
  readonly partitionList: readonly PartitionSummary[]
}

export interface QueueFilter {
  readonly namespace?: string | undefined
  readonly task?: string | undefined
}

/** What a transport does for it. */
export interface QueueReads {
  list(namespace: string | null, task: string | null): Promise<readonly QueueOverview[]>
  get(queue: string): Promise<QueueView | null>
}

export interface Queues {
  list(options?: QueueFilter): Promise<readonly QueueOverview[]>
  /** With its partitions; null when there is none of that name. */
  get(queue: NamedQueue): Promise<QueueView | null>
}

const FILTER = { namespace: optional(namespaceName, null), task: optional(namespaceName, null) } as const

export function queuesClient(reads: QueueReads): Queues {
  return {
    async list(options = {}) {
      const { namespace, task } = readFields(FILTER, options, root())
      return reads.list(namespace, task)
    },
    get: async (queue) => reads.get(definitionOf(queue).name),
  }
}
