// `lockstep queue show`: one queue with its options and a page of its partitions.

import { showQueue } from '../../operations/show-queue.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { asRun, shellWord } from '../as-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchQueue } from '../no-such-queue.ts'
import { showTable } from '../show-table.ts'

export const queueShow: Command = {
  name: 'queue show',
  summary: 'Show one queue: its options, its counts, its partitions.',
  arguments: [{ name: 'queue', meaning: 'The queue.' }],
  options: {
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: LIMITS.listLimit,
      meaning: 'Partitions at most.',
      fallback: '20',
    },
    after: { kind: 'text', value: 'NAME', meaning: 'Begin after this partition.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep queue show orders', 'lockstep queue show orders --limit 100 --json'],
  async run(call) {
    const [name, after] = [call.argument('queue'), call.text('after')]
    return await withDatabase(call, async (database) => {
      const page = { limit: call.integer('limit') ?? 20, ...(after === null ? {} : { after }) }
      const detail = await showQueue(database.reader, name, page)
      if (detail === null) throw await noSuchQueue(database, name)
      const { messages } = detail
      call.output.result(detail, () =>
        [
          `${call.output.styled('bold', name)}, made ${detail.createdAt}`,
          `${messages.pending} pending, ${messages.processing} leased, ${messages.completed} done, ${messages.deadLetter} dead letters, in ${detail.partitions} partitions`,
          '',
          showTable(
            ['option', 'value'],
            Object.entries(detail.options).map(([option, value]) => [option, String(value)]),
            '',
          ),
          '',
          showTable(
            ['partition', 'pending', 'leased', 'done', 'dead', 'last push'],
            detail.partitionList.map((each) => [
              each.partition,
              each.messages.pending,
              each.messages.processing,
              each.messages.completed,
              each.messages.deadLetter,
              each.lastActivity,
            ]),
            'It has no partition yet.',
          ),
          ...(detail.nextAfter === null
            ? []
            : [asRun(`more: lockstep queue show ${shellWord(name)} --after ${shellWord(detail.nextAfter)}`)]),
        ].join('\n'),
      )
      return 0
    })
  },
}
