// `lockstep schedule trigger`: starts a schedule's run now, outside of its slots.

import { triggerSchedule } from '../../operations/trigger-schedule.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { SCHEDULE_ARGUMENT } from '../no-such-schedule.ts'

export const scheduleTrigger: Command = {
  name: 'schedule trigger',
  summary: 'Start the run of a schedule now.',
  arguments: [SCHEDULE_ARGUMENT],
  options: DATABASE_OPTIONS,
  examples: ['lockstep schedule trigger nightly'],
  async run(call) {
    const name = call.argument('name')
    return await withDatabase(call, async (database) => {
      const started = await triggerSchedule(database, name)
      call.output.result({ name, runId: started }, () => `Started ${started}.`)
      return 0
    })
  },
}
