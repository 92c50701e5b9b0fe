// Queues with their options and counts, as the wire answers them.
import { optional } from '../../protocol/check.ts'
import { effectiveSettings } from '../queue-settings.ts'
import type { QueueOverview, QueueReads } from '../queues/queues-client.ts'
import { amount, fieldsIn, plainText, readAnswer, recordIn, recordsIn } from './answer-reader.ts'
import type { AnswerRecord } from './answer-reader.ts'
import { queryText, type Routes } from './routes.ts'

const QUEUE = { id: plainText, name: plainText, namespace: plainText, task: plainText, createdAt: plainText } as const
const COUNTS = { total: amount, pending: amount, processing: amount, completed: amount, deadLetter: amount } as const
const PARTITION = {
  id: plainText,
  name: plainText,
  createdAt: plainText,
  lastActivity: optional(plainText, null),
  oldestMessage: optional(plainText, null),
  newestMessage: optional(plainText, null),
} as const

const ALL = '/api/v1/resources/queues'

function overview(source: AnswerRecord, partitions: number, counts: unknown): QueueOverview {
  const { id: queueId, name: queue, ...fields } = fieldsIn(QUEUE, source)
  const options = effectiveSettings(recordIn(source['options']))
  return { queueId, queue, ...fields, options, partitions, messages: fieldsIn(COUNTS, counts) }
}

export function httpQueueReads({ read, find }: Routes): QueueReads {
  return {
    async list(namespace, task) {
      const { envelope } = readAnswer(await read(`${ALL}${queryText({ namespace, task })}`), {})
      return recordsIn(recordIn(envelope)['queues'], null).map((source) =>
        overview(source, fieldsIn({ partitions: amount }, source).partitions, source['messages']),
      )
    },

    async get(queue) {
      const text = await find(`${ALL}/${encodeURIComponent(queue)}`)
      if (text === null) return null
      const envelope = recordIn(readAnswer(text, {}).envelope)
      const partitionList = recordsIn(envelope['partitions'], null).map((source) => {
        const { id: partitionId, name: partition, ...fields } = fieldsIn(PARTITION, source)
        const { totalConsumed: cursor } = fieldsIn({ totalConsumed: amount }, source['cursor'])
        return { partitionId, partition, ...fields, messages: fieldsIn(COUNTS, source['stats']), cursor }
      })
      const { partitionCount } = fieldsIn({ partitionCount: amount }, envelope)
      return { ...overview(envelope, partitionCount, envelope['totals']), partitionList }
    },
  }
}
