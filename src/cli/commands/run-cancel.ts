// `lockstep run cancel`: cancels a run and the runs it started; its workers lose their tokens.

import { cancelRun } from '../../operations/cancel-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchRun } from '../no-such-run.ts'
import { RUN_ARGUMENT, runId } from '../run-id.ts'
import { runWord } from '../run-word.ts'

export const runCancel: Command = {
  name: 'run cancel',
  summary: 'Cancel a run and all of it that has not ended.',
  detail: 'The runs it started are cancelled by upkeep within a second. Ends with status 1 when it had ended already.',
  arguments: [RUN_ARGUMENT],
  options: { reason: { kind: 'text', value: 'TEXT', meaning: 'Kept with the run.' }, ...DATABASE_OPTIONS },
  examples: ['lockstep run cancel 01a227d9-6709-7029-9680-345d117a9c71 --reason "ordered twice"'],
  async run(call) {
    const id = runId(call)
    return await withDatabase(call, async (database) => {
      const state = runWord(await cancelRun(database, id, call.text('reason')))
      if (state === 'not_found') throw noSuchRun(id)
      const cancelled = state === 'cancelled'
      call.output.result({ runId: id, state }, () =>
        cancelled ? `${id} is cancelled.` : `${id} had ended before: ${state}.`,
      )
      return cancelled ? 0 : 1
    })
  },
}
