// `lockstep dlq replay`: moves one dead letter back into its queue, or into another, or all of a queue that the options select:
// each copy and the removal of its row are one commit.

import type { Database } from '../../db/pool.ts'
import { redriveDeadLetter } from '../../operations/redrive-dead-letter.ts'
import { replayDeadLetters } from '../../traffic/replay-dead-letters.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { type Call, withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { demandQueue } from '../demand-queue.ts'
import { letterId } from '../letter-id.ts'
import { letterSelection, SELECTION_OPTIONS } from '../letter-selection.ts'
import { UsageError } from '../usage-error.ts'

const REFUSALS = {
  duplicate: 'its copy is in the queue already; nothing was moved',
  gone: 'there is no such dead letter (any more)',
  queue_not_found: 'there is no such queue to move it to; nothing was moved',
  queue_full: 'the queue is full; nothing was moved',
} as const

async function replayOne(call: Call, database: Database, id: string): Promise<number> {
  const target = { queue: call.text('to-queue'), partition: call.text('to-partition') }
  const redriven = await redriveDeadLetter(database, id, target)
  const { result } = redriven
  if (result === 'gone') throw new LockstepError('not_found', `${id}: ${REFUSALS.gone}`, { hint: 'lockstep dlq list' })
  call.output.result({ id, ...redriven }, () =>
    result === 'moved'
      ? `Moved to ${redriven.queue}, partition ${redriven.partition}, as ${redriven.transactionId ?? ''}.`
      : `Not moved: ${REFUSALS[result]}.`,
  )
  return result === 'moved' ? 0 : 1
}

async function replayAll(call: Call, database: Database, queue: string): Promise<number> {
  await demandQueue(database, queue)
  const dryRun = call.flag('dry-run')
  const count = await replayDeadLetters(database, { ...letterSelection(call), queue }, dryRun)
  call.output.result({ queue, dryRun, ...count }, () => {
    if (dryRun) return `${count.matched} would be moved.`
    const kept = count.kept === 0 ? '' : ` ${count.kept} stay: their copy is still known, or the queue is full.`
    return `${count.moved} moved.${kept}`
  })
  return count.kept === 0 ? 0 : 1
}

export const dlqReplay: Command = {
  name: 'dlq replay',
  summary: 'Move dead letters back into their queue.',
  detail:
    'One by its --id, or all of a queue that the options select. Every group of the queue gets them again. Ends with status 1 when something was not moved.',
  arguments: [{ name: 'queue', meaning: 'All of this queue that the options select.', optional: true }],
  options: {
    id: { kind: 'text', value: 'ID', meaning: 'This one, as `lockstep dlq list` tells it.' },
    'to-queue': { kind: 'text', value: 'NAME', meaning: 'With --id: into this queue.', fallback: 'where it came from' },
    'to-partition': {
      kind: 'text',
      value: 'NAME',
      meaning: 'With --id: into this partition.',
      fallback: 'where it came from',
    },
    ...SELECTION_OPTIONS,
    'dry-run': { kind: 'flag', meaning: 'Only count.' },
    ...DATABASE_OPTIONS,
  },
  examples: [
    'lockstep dlq replay --id 01a227d9-6709-7029-9680-345d117a9c71',
    'lockstep dlq replay orders --group billing --error timeout --dry-run',
  ],
  async run(call) {
    const [queue, id] = [call.argument('queue'), call.text('id')]
    if ((queue === '') === (id === null)) {
      throw new UsageError('Name a queue, or one dead letter by --id.', 'lockstep dlq list')
    }
    const many = ['group', 'partition', 'error', 'from', 'to'].find((name) => call.text(name) !== null)
    if (id !== null && (many !== undefined || call.flag('dry-run'))) {
      throw new UsageError(
        `--${many ?? 'dry-run'} is for all of a queue; --id names one.`,
        'lockstep dlq replay --help',
      )
    }
    const target = ['to-queue', 'to-partition'].find((name) => call.text(name) !== null)
    if (id === null && target !== undefined) {
      throw new UsageError(`--${target} goes with --id.`, 'lockstep dlq replay --help')
    }
    return await withDatabase(call, async (database) =>
      id === null ? replayAll(call, database, queue) : replayOne(call, database, letterId(id)),
    )
  },
}
