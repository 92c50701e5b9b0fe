// `lockstep schedule delete`: removes a schedule; the runs it started go on.

import { deleteSchedule } from '../../operations/delete-schedule.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { noSuchSchedule, SCHEDULE_ARGUMENT } from '../no-such-schedule.ts'

export const scheduleDelete: Command = {
  name: 'schedule delete',
  summary: 'Remove a schedule; the runs it started go on.',
  arguments: [SCHEDULE_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep schedule delete nightly'],
  async run(call) {
    const name = call.argument('name')
    return await withDatabase(call, async (database) => {
      if (!(await deleteSchedule(database, name))) throw noSuchSchedule(name)
      call.output.result({ name }, () => `${name} is removed.`)
      return 0
    })
  },
}
