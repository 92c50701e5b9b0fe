// `lockstep dlq purge`: removes the dead letters of a queue that the options select. Asks first; a script says --yes.

import { purgeDeadLetters } from '../../operations/purge-dead-letters.ts'
import { shellWord } from '../as-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { demandQueue } from '../demand-queue.ts'
import { demandYes } from '../demand-yes.ts'
import { letterSelection, SELECTION_OPTIONS } from '../letter-selection.ts'

export const dlqPurge: Command = {
  name: 'dlq purge',
  summary: 'Remove dead letters for good.',
  detail: 'All of a queue that the options select. There is no way back; --dry-run tells how many they are.',
  arguments: [{ name: 'queue', meaning: 'The queue.' }],
  options: {
    ...SELECTION_OPTIONS,
    'dry-run': { kind: 'flag', meaning: 'Only count.' },
    yes: { kind: 'flag', meaning: 'Do not ask.' },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep dlq purge orders --dry-run', 'lockstep dlq purge orders --to 2026-11-01T00:00:00Z --yes'],
  async run(call) {
    const queue = call.argument('queue')
    const selection = { ...letterSelection(call), queue }
    return await withDatabase(call, async (database) => {
      await demandQueue(database, queue)
      const matched = (await purgeDeadLetters(database, selection, true)) ?? 0
      if (call.flag('dry-run')) {
        call.output.result({ queue, dryRun: true, deleted: matched }, () => `${matched} would be removed.`)
        return 0
      }
      const said = Object.keys(SELECTION_OPTIONS).flatMap((name) => {
        const value = call.text(name)
        return value === null ? [] : [`--${name}`, shellWord(value)]
      })
      const again = ['lockstep dlq purge', shellWord(queue), ...said, '--yes'].join(' ')
      await demandYes(call, `Remove ${matched} dead letters of ${queue}?`, again)
      const deleted = (await purgeDeadLetters(database, selection)) ?? 0
      call.output.result({ queue, dryRun: false, deleted }, () => `${deleted} removed.`)
      return 0
    })
  },
}
