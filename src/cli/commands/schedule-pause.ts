// `lockstep schedule pause` and `resume`: whether a schedule fires.

import { pauseSchedule } from '../../operations/pause-schedule.ts'
import { withDatabase, type Call } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchSchedule, SCHEDULE_ARGUMENT } from '../no-such-schedule.ts'

async function setPaused(call: Call, paused: boolean): Promise<number> {
  const name = call.argument('name')
  return await withDatabase(call, async (database) => {
    if (!(await pauseSchedule(database, name, paused))) throw noSuchSchedule(name)
    call.output.result({ name, paused }, () => `${name} ${paused ? 'is paused' : 'fires again'}.`)
    return 0
  })
}

export const schedulePause: Command = {
  name: 'schedule pause',
  summary: 'Stop a schedule from firing.',
  arguments: [SCHEDULE_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep schedule pause nightly'],
  run: (call) => setPaused(call, true),
}

export const scheduleResume: Command = {
  name: 'schedule resume',
  summary: 'Let a paused schedule fire again.',
  detail: 'Slots that passed while it was paused are not made up for.',
  arguments: [SCHEDULE_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep schedule resume nightly'],
  run: (call) => setPaused(call, false),
}
