// `lockstep dlq redrive`: moves one dead letter back into its queue, or into another: the copy and the removal are one commit.

import { redriveDeadLetter } from '../../operations/redrive-dead-letter.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { UsageError } from '../usage-error.ts'

const REFUSALS = {
  duplicate: 'its copy is in the queue already; nothing was moved',
  gone: 'there is no such dead letter (any more)',
  queue_not_found: 'there is no such queue to move it to; nothing was moved',
  queue_full: 'the queue is full; nothing was moved',
} as const

export const dlqRedrive: Command = {
  name: 'dlq redrive',
  summary: 'Move one dead letter back into a queue.',
  detail: 'Every group of the queue gets it again. Ends with status 1 when it was not moved.',
  arguments: [{ name: 'id', meaning: 'The id of the dead letter, as `lockstep dlq list --json` tells it.' }],
  options: {
    queue: { kind: 'text', value: 'NAME', meaning: 'Into this queue.', fallback: 'where it came from' },
    partition: { kind: 'text', value: 'NAME', meaning: 'Into this partition.', fallback: 'where it came from' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep dlq redrive 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = call.argument('id')
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
      throw new UsageError(`'${id}' is no id of a dead letter.`, 'lockstep dlq list --json')
    }
    return await withDatabase(call, async (database) => {
      const target = { queue: call.text('queue'), partition: call.text('partition') }
      const redriven = await redriveDeadLetter(database, id, target)
      const { result } = redriven
      if (result === 'gone')
        throw new LockstepError('not_found', `${id}: ${REFUSALS.gone}`, { hint: 'lockstep dlq list' })
      call.output.result({ id, ...redriven }, () =>
        result === 'moved'
          ? `Moved to ${redriven.queue}, partition ${redriven.partition}, as ${redriven.transactionId ?? ''}.`
          : `Not moved: ${REFUSALS[result]}.`,
      )
      return result === 'moved' ? 0 : 1
    })
  },
}
