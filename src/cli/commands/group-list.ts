// `lockstep group list`: the consumer groups and how far behind each is.

import { listGroups } from '../../operations/list-groups.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'

export const groupList: Command = {
  name: 'group list',
  summary: 'List consumer groups and how far behind they are.',
  arguments: [{ name: 'queue', meaning: 'Only of this queue.', optional: true }],
  options: DATABASE_OPTIONS,
  examples: ['lockstep group list', 'lockstep group list orders --json'],
  async run(call) {
    const queue = call.argument('queue')
    return await withDatabase(call, async (database) => {
      const groups = await listGroups(database.reader, queue === '' ? null : queue)
      call.output.result({ groups }, () =>
        showTable(
          ['queue', 'group', 'behind', 'partitions behind', 'leased', 'oldest (s)', 'starts at'],
          groups.map((group) => [
            group.queue,
            group.group,
            group.totalLag,
            group.partitionsWithLag,
            group.leased,
            Math.round(group.maxTimeLagSeconds),
            group.startsAt ?? 'the oldest',
          ]),
          'There is no consumer group.',
        ),
      )
      return 0
    })
  },
}
