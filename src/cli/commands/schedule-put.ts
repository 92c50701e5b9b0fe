// `lockstep schedule put`: creates or changes a schedule; the same again changes nothing.

import { putSchedule } from '../../operations/put-schedule.ts'
import type { Misfire } from '../../protocol/schedule.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { readJson } from '../read-json.ts'
import { RHYTHM_OPTIONS, rhythm } from '../rhythm.ts'

const MISFIRES: readonly Misfire[] = ['skip', 'once', 'all']

export const schedulePut: Command = {
  name: 'schedule put',
  summary: 'Create or change a schedule.',
  detail: 'The same definition again changes nothing. What it starts must be registered by a worker once.',
  arguments: [
    { name: 'name', meaning: 'The name of the schedule.' },
    { name: 'target', meaning: 'The workflow or action that each slot starts.' },
  ],
  options: {
    ...RHYTHM_OPTIONS,
    input: { kind: 'text', value: 'JSON', meaning: 'The input of each run.', fallback: 'null' },
    misfire: {
      kind: 'choice',
      choices: MISFIRES,
      value: 'POLICY',
      meaning: 'What to do with slots that nobody was there for: none of them, the last, all.',
      fallback: 'once',
    },
    overlap: {
      kind: 'choice',
      choices: ['allow', 'skip'],
      value: 'POLICY',
      meaning: 'Whether a slot starts a run while the one before goes on.',
      fallback: 'allow',
    },
    ...DATABASE_OPTIONS,
  },
  examples: ['lockstep schedule put nightly sweep --cron "30 2 * * *" --zone Europe/Rome'],
  async run(call) {
    const name = call.argument('name')
    const misfire = call.text('misfire')
    const input = call.text('input')
    const definition = {
      name,
      target: call.argument('target'),
      ...rhythm(call),
      input: input === null ? 'null' : readJson(input, '--input'),
      priority: 0,
      misfire: MISFIRES.find((policy) => policy === misfire) ?? 'once',
      overlap: call.text('overlap') === 'skip' ? ('skip' as const) : ('allow' as const),
    }
    return await withDatabase(call, async (database) => {
      const outcome = await putSchedule(database, definition)
      call.output.result({ name, outcome }, () => `${name} is ${outcome}.`)
      return 0
    })
  },
}
