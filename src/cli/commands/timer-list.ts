// `lockstep timer list`: the pending timers of a queue, page by page, in the order of their keys.

import { listTimers } from '../../operations/list-timers.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'

export const timerList: Command = {
  name: 'timer list',
  summary: 'List pending timers of a queue.',
  detail: 'In the byte order of their keys. When there are more, the last line is the command for the next page.',
  arguments: [{ name: 'queue', meaning: 'The queue that they will push to.' }],
  options: {
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: LIMITS.listLimit,
      meaning: 'At most this many.',
      fallback: String(LIMITS.listLimitDefault),
    },
    after: { kind: 'text', value: 'KEY', meaning: 'Begin after this key.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep timer list reminders', 'lockstep timer list reminders --limit 10 --json'],
  async run(call) {
    const queue = call.argument('queue')
    const limit = call.integer('limit') ?? LIMITS.listLimitDefault
    return await withDatabase(call, async (database) => {
      const { timers, truncated } = await listTimers(database.reader, queue, call.text('after') ?? '', limit)
      const nextAfter = truncated ? (timers.at(-1)?.key ?? null) : null
      call.output.result({ queue, timers, nextAfter }, () => {
        const table = showTable(
          ['key', 'fires at', 'partition', 'transaction id', 'attempts'],
          timers.map((timer) => [timer.key, timer.deliverAt, timer.partition, timer.transactionId, timer.attempts]),
          `No timer of ${queue} is pending.`,
        )
        return nextAfter === null ? table : `${table}\nmore: lockstep timer list ${queue} --after ${nextAfter}`
      })
      return 0
    })
  },
}
