// `lockstep schedule list`: schedules, their next slot and what became of the last one.

import { listSchedules } from '../../operations/list-schedules.ts'
import { withDatabase } from '../call.ts'
import { type Command, DATABASE_OPTIONS } from '../command.ts'
import { showTable } from '../show-table.ts'
import { storedJson } from '../stored-json.ts'

export const scheduleList: Command = {
  name: 'schedule list',
  summary: 'List schedules, their next slot and what became of the last one.',
  arguments: [],
  options: DATABASE_OPTIONS,
  examples: ['lockstep schedule list'],
  async run(call) {
    return await withDatabase(call, async (database) => {
      const schedules = await listSchedules(database.reader, null)
      call.output.result({ schedules: schedules.map(storedJson) }, () =>
        showTable(
          ['schedule', 'rhythm', 'zone', 'starts', 'next', 'last'],
          schedules.map((schedule) => [
            schedule.name,
            schedule.cron ?? `every ${(schedule.intervalMs ?? 0) / 1000} s`,
            schedule.zone,
            schedule.target,
            schedule.paused ? 'paused' : (schedule.nextAt?.slice(0, 19) ?? 'none'),
            schedule.lastSlots[0] === undefined
              ? ''
              : `${schedule.lastSlots[0].dueAt.slice(0, 19)} ${schedule.lastSlots[0].outcome}`,
          ]),
          'There is no schedule.',
        ),
      )
      return 0
    })
  },
}
