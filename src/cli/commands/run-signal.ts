// `lockstep run signal`: sends a signal to a run; it is kept until a step takes it.

import { signalRun } from '../../operations/signal-run.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchRun } from '../no-such-run.ts'
import { readJson } from '../read-json.ts'
import { RUN_ARGUMENT, runId } from '../run-id.ts'
import { runWord } from '../run-word.ts'

export const runSignal: Command = {
  name: 'run signal',
  summary: 'Send a signal to a run.',
  arguments: [
    RUN_ARGUMENT,
    { name: 'name', meaning: 'The name that the run waits for.' },
    { name: 'payload', meaning: 'JSON; null when left out.', optional: true },
  ],
  options: DATABASE_OPTIONS,
  examples: ['lockstep run signal 01a227d9-6709-7029-9680-345d117a9c71 approval \'{"by":"ada"}\''],
  async run(call) {
    const id = runId(call)
    const name = call.argument('name')
    const given = call.argument('payload')
    const payload = given === '' ? 'null' : readJson(given, 'payload')
    return await withDatabase(call, async (database) => {
      const state = runWord(await signalRun(database, id, name, payload))
      if (state === 'not_found') throw noSuchRun(id)
      call.output.result({ runId: id, signal: name, state }, () =>
        state === 'ok' ? `${name} is sent.` : `${id} has ended (${state}); nothing was sent.`,
      )
      return state === 'ok' ? 0 : 1
    })
  },
}
