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
  detail: `What was done stays done; a deadline that has passed is lifted. A run that was undone is left as it is, one
that stopped while it undid goes on undoing. Ends with status 1 when nothing was changed.`,
  arguments: [RUN_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep run retry 01a227d9-6709-7029-9680-345d117a9c71'],
  async run(call) {
    const id = runId(call)
    return await withDatabase(call, async (database) => {
      const before = await showRun(database.reader, id, null)
      if ('missing' in before) throw noSuchRun(id)
      const state = runWord(await retryRun(database, id))
      const over = before.state === 'failed' || before.state === 'cancelled'
      const again = over && state !== before.state
      call.output.result({ runId: id, state }, () => {
        if (again) return state === 'compensating' ? `${id} goes on undoing what it did.` : `${id} runs again.`
        return over
          ? `${id} is ${state} and what it did was undone: submit it anew. Nothing was changed.`
          : `${id} is ${state}; nothing was changed.`
      })
      return again ? 0 : 1
    })
  },
}
