// `lockstep queue list`: all queues with what waits in them.

import { listQueues } from '../../operations/list-queues.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'

export const queueList: Command = {
  name: 'queue list',
  summary: 'List the queues and what waits in them.',
  detail: 'Counts are against the slowest group; in a queue without groups everything that is kept is pending.',
  arguments: [],
  options: {
    namespace: { kind: 'text', value: 'NAME', meaning: 'Only queues of this namespace.' },
    task: { kind: 'text', value: 'NAME', meaning: 'Only queues of this task.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep queue list', 'lockstep queue list --namespace shop --json'],
  async run(call) {
    return await withDatabase(call, async (database) => {
      const filter = { namespace: call.text('namespace'), task: call.text('task') }
      const queues = await listQueues(database.reader, filter)
      call.output.result({ queues }, () =>
        showTable(
          ['queue', 'partitions', 'pending', 'leased', 'done', 'dead', 'namespace', 'task'],
          queues.map(({ queue, partitions, messages, namespace, task }) => [
            queue,
            partitions,
            messages.pending,
            messages.processing,
            messages.completed,
            messages.deadLetter,
            namespace,
            task,
          ]),
          'There is no queue.',
        ),
      )
      return 0
    })
  },
}
