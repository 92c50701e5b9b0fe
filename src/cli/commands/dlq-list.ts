// `lockstep dlq list`: the messages that were given up, newest first, with why.

import { listDeadLetters } from '../../operations/list-dead-letters.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { letterSelection, SELECTION_OPTIONS } from '../letter-selection.ts'
import { showTable } from '../show-table.ts'
import { rawJson } from '../write-json.ts'

export const dlqList: Command = {
  name: 'dlq list',
  summary: 'List dead letters, newest first.',
  detail:
    'The cause is failed (its retries are spent), crashed (it kept losing its workers), forced (a consumer said so) or conflict (its id came again with another payload). --json has the payloads too.',
  arguments: [{ name: 'queue', meaning: 'Only of this queue.', optional: true }],
  options: {
    ...SELECTION_OPTIONS,
    limit: {
      kind: 'integer',
      value: 'N',
      min: 1,
      max: LIMITS.listLimit,
      meaning: 'At most this many.',
      fallback: '50',
    },
    skip: { kind: 'integer', value: 'N', meaning: 'Leave out the newest so many.', fallback: '0' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep dlq list', 'lockstep dlq list orders --group billing --from 2026-11-01T00:00:00Z'],
  async run(call) {
    const queue = call.argument('queue')
    const filter = {
      queue: queue === '' ? null : queue,
      ...letterSelection(call),
      limit: call.integer('limit') ?? 50,
      offset: call.integer('skip') ?? 0,
    }
    return await withDatabase(call, async (database) => {
      const { entries: letters, cut } = await listDeadLetters(database.reader, filter)
      call.output.result(
        {
          deadLetters: letters.map((letter) => ({
            ...letter,
            payload: letter.payload === null ? null : rawJson(letter.payload),
          })),
          cut,
        },
        () => {
          const table = showTable(
            ['id', 'failed at', 'queue', 'partition', 'group', 'cause', 'transaction id', 'error'],
            letters.map((letter) => [
              letter.id,
              letter.failedAt,
              letter.queue,
              letter.partition,
              letter.group,
              letter.cause,
              letter.transactionId,
              letter.error.length > 60 ? `${letter.error.slice(0, 59)}…` : letter.error,
            ]),
            'There is no dead letter.',
          )
          return letters.length < filter.limit && !cut
            ? table
            : `${table}\nmore: add --skip ${filter.offset + letters.length}`
        },
      )
      return 0
    })
  },
}
