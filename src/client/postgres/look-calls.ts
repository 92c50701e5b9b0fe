// The looks at queues, messages and traces, straight to PostgreSQL.
import type { Database } from '../../db/pool.ts'
import { addTrace } from '../../operations/add-trace.ts'
import { deadLetterOf } from '../../operations/dead-letter-of.ts'
import { findMessage } from '../../operations/find-message.ts'
import { listMessages } from '../../operations/list-messages.ts'
import { listQueues } from '../../operations/list-queues.ts'
import { messageTraces, namedTraces, traceNames } from '../../operations/list-traces.ts'
import { purgeMessageLetters } from '../../operations/purge-message-letters.ts'
import { showQueue } from '../../operations/show-queue.ts'
import type { DeadLetterCalls } from '../dead-letters/dead-letters-client.ts'
import { effectiveSettings } from '../queue-settings.ts'
import type { Transport } from '../transport.ts'
import type { Repeatedly } from './repeated.ts'

const NO_LETTER = {
  result: 'gone',
  queue: '',
  partition: '',
  group: '',
  originalTransactionId: '',
  messageId: null,
  transactionId: null,
} as const

export function lookCalls(
  database: Database,
  call: Repeatedly,
  letters: Pick<DeadLetterCalls, 'replay'>,
): Pick<Transport, 'queues' | 'messages' | 'traces'> {
  const { reader } = database
  return {
    queues: {
      async list(namespace, task) {
        // Over the wire, too, an empty one is none.
        const filter = { namespace: namespace || null, task: task || null }
        const queues = await call(true, async () => listQueues(reader, filter))
        return queues.map((queue) => ({ ...queue, options: effectiveSettings(queue.options) }))
      },
      async get(name) {
        const found = await call(true, async () => showQueue(reader, name))
        if (found === null) return null
        const { nextAfter: _, ...queue } = found
        return { ...queue, options: effectiveSettings(queue.options) }
      },
    },

    messages: {
      list: async (page) => call(true, async () => listMessages(reader, page)),
      async get({ partitionId, transactionId }) {
        const found = await call(true, async () => findMessage(reader, partitionId, transactionId))
        return found === null ? null : { ...found, queueOptions: effectiveSettings(found.queueOptions) }
      },
      async retry({ partitionId, transactionId }, target) {
        const id = await call(true, async () => deadLetterOf(reader, partitionId, transactionId))
        return id === null ? NO_LETTER : letters.replay(id, target)
      },
      delete: async ({ partitionId, transactionId }) =>
        call(true, async () => purgeMessageLetters(database, partitionId, transactionId)),
    },

    traces: {
      add: async (trace) => call(false, async () => addTrace(database, trace)),
      ofMessage: async ({ partitionId, transactionId }, limit) =>
        call(true, async () => messageTraces(reader, partitionId, transactionId, limit)),
      ofName: async (name, page) => call(true, async () => namedTraces(reader, name, page)),
      names: async (page) => call(true, async () => traceNames(reader, page)),
    },
  }
}
