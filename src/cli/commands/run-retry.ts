// `lockstep run retry`: starts a failed or cancelled run again where it stopped.

import { retryRun } from '../../operations/retry-run.ts'
import { showRun } from '../../operations/show-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchRun } from '../no-such-run.ts'
import { RUN_ARGUMENT, runId } from '../run-id.ts'
import { runWord } from '../run-word.ts'

export const runRetry: Command = {
  name: 'run retry',
  summary: 'Start a failed or cancelled run again where it stopped.',
  detail: 'What was done stays done. Ends with status 1 when the run is neither failed nor cancelled.',
  arguments: [RUN_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep run retry 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = runId(call)
    return await withDatabase(call, async (database) => {
      const before = await showRun(database.reader, id, null)
      if ('missing' in before) throw noSuchRun(id)
      const state = runWord(await retryRun(database, id))
      const again = state === 'running' && (before.state === 'failed' || before.state === 'cancelled')
      call.output.result({ runId: id, state }, () =>
        again ? `${id} runs again.` : `${id} is ${state}; nothing was changed.`,
      )
      return again ? 0 : 1
    })
  },
}
