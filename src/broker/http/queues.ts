// Queues themselves: configure, delete, list. A deletion wakes whoever waits there, so that nobody waits for a queue that
// is gone; the next pop makes it anew.
import { configure } from '../../operations/configure.ts'
import { deleteQueue } from '../../operations/delete-queue.ts'
import { listQueues } from '../../operations/list-queues.ts'
import { optional, readFields, root } from '../../protocol/check.ts'
import { CONFIGURE_BODY, decodeConfigure } from '../../protocol/configure-request.ts'
import { namespaceName, queueName } from '../../protocol/names.ts'
import type { QueueSummary } from '../../protocol/queue-info.ts'
import { OPTION_FIELDS } from './body-parts.ts'
import { bodyText } from './read-body.ts'
import { noting, reading, writing } from './read-call.ts'
import { readQuery } from './read-query.ts'
import { json } from './route.ts'
import type { Answer, Call, Route } from './route.ts'

const STORAGE = 'segments'

const NO_KEYS =
  'this broker has no encryption keys: what it pushes is stored as it is, or refused where other processes have keys; set LOCKSTEP_ENCRYPTION_KEYS'

async function set(call: Call): Promise<Answer> {
  const request = decodeConfigure(bodyText(call.body))
  const info = await writing(call, (db) => configure(db, request))
  call.parts.traffic.committed(info.queue)
  const isOpen = info.options.encryptionEnabled && call.parts.database.vault === undefined
  if (isOpen) call.parts.logger.error('a queue is to be encrypted and this broker has no keys', { queue: info.queue })
  return json(
    JSON.stringify({
      configured: true,
      queueId: info.queueId,
      partitionId: null,
      queue: info.queue,
      namespace: info.namespace,
      task: info.task,
      storage: STORAGE,
      options: { ...info.options, maxQueueSize: info.options.maxSize },
      ignored: request.ignored,
      ...(isOpen ? { warning: NO_KEYS } : {}),
    }),
  )
}

async function remove(call: Call): Promise<Answer> {
  const queue = queueName.read(call.params['queue'], root(), 'queue')
  const { existed } = await noting(call, (db) => deleteQueue(db, queue))
  call.parts.traffic.floors.forget(queue, null)
  call.parts.traffic.committed(queue)
  return json(
    JSON.stringify({
      deleted: existed,
      queue,
      existed,
      ...(existed ? {} : { message: 'there is no queue of this name' }),
    }),
  )
}

/** Null: what would have to read every row to be counted is not counted. */
const UNCOUNTED = { kvRows: null, kvBytes: null, timerRows: null, timerBytes: null } as const

const LIST_QUERY = { namespace: optional(namespaceName, null), task: optional(namespaceName, null) } as const

async function list(call: Call): Promise<Answer> {
  const { namespace, task } = readFields(LIST_QUERY, readQuery(call.queryText), root())
  const queues = await reading(call, (db) => listQueues(db, { namespace: namespace || null, task: task || null }))
  return json(JSON.stringify({ queues: queues.map(listed), ...UNCOUNTED }))
}

export function listed(info: QueueSummary): Readonly<Record<string, unknown>> {
  return {
    id: info.queueId,
    name: info.queue,
    queue: info.queue,
    namespace: info.namespace,
    task: info.task,
    storage: STORAGE,
    createdAt: info.createdAt,
    retainedBytes: null,
    partitions: info.partitions,
    segments: { segments: 0, messages: info.messages.total },
    messages: info.messages,
    options: info.options,
  }
}

export const queueRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/configure',
    access: 'read-write',
    rank: 'A',
    changes: true,
    about:
      'Makes a queue or changes its options: what is left out stays, null is the default again, `"mode":"replace"` resets the rest. The answer is the complete effective set.',
    body: [
      {
        at: '',
        fields: { ...CONFIGURE_BODY, namespace: optional(namespaceName, null), task: optional(namespaceName, null) },
      },
      { at: 'options', fields: OPTION_FIELDS },
    ],
    answers: {
      200: '{"configured":true,"queueId":"…","partitionId":null,"queue":"…","namespace":"…","task":"…","storage":"segments","options":{…}}',
      400: 'The queue or an option is missing, of the wrong type or out of range; nothing was written.',
    },
    handle: set,
  },
  {
    method: 'DELETE',
    path: '/api/v1/resources/queues/:queue',
    access: 'admin',
    rank: 'A',
    changes: true,
    about: 'Deletes a queue with its messages, groups, leases and dead letters.',
    answers: { 200: '{"deleted":true,"queue":"…","existed":true}' },
    handle: remove,
  },
  {
    method: 'GET',
    path: '/api/v1/resources/queues',
    access: 'read-only',
    rank: 'A',
    changes: false,
    about: 'All queues with options and counts.',
    query: LIST_QUERY,
    answers: {
      200: '{"queues":[{"id":"…","name":"…","queue":"…","namespace":"…","task":"…","storage":"segments","createdAt":"…","retainedBytes":null,"partitions":1,"segments":{…},"messages":{"total":1,"pending":1,"processing":0,"completed":0,"deadLetter":0},"options":{…}}],"kvRows":null,"kvBytes":null,"timerRows":null,"timerBytes":null}',
    },
    handle: list,
  },
]
