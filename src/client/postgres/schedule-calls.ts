// The verbs about schedules straight to PostgreSQL, behind the same gate as everything else.
import type { Database } from '../../db/pool.ts'
import { deleteSchedule } from '../../operations/delete-schedule.ts'
import { listSchedules } from '../../operations/list-schedules.ts'
import { pauseSchedule } from '../../operations/pause-schedule.ts'
import { previewSchedule } from '../../operations/preview-schedule.ts'
import { putSchedule } from '../../operations/put-schedule.ts'
import { triggerSchedule } from '../../operations/trigger-schedule.ts'
import { RANK, type Admission } from '../../traffic/admission.ts'
import type { ScheduleCalls } from '../../workflow/run/schedule-calls.ts'
import type { Repeatedly } from './repeated.ts'

export interface SchedulePorts {
  readonly database: Database
  readonly admission: Admission
  readonly call: Repeatedly
  /** After a run was started: workers look. */
  readonly wake: () => void
}

export function scheduleCalls({ database, admission, call, wake }: SchedulePorts): ScheduleCalls {
  const reading = async <T>(work: () => Promise<T>): Promise<T> =>
    call(true, async () => admission.enter(RANK.read, work))
  const writing = async <T>(repeatable: boolean, work: () => Promise<T>): Promise<T> =>
    call(repeatable, async () => admission.enter(RANK.write, work))
  return {
    put: async (definition) => writing(true, async () => putSchedule(database, definition)),
    list: async (name) => reading(async () => listSchedules(database.reader, name)),
    preview: async (rhythm, count) => reading(async () => previewSchedule(database.reader, rhythm, count)),
    pause: async (name, paused) => writing(true, async () => pauseSchedule(database, name, paused)),
    async trigger(name) {
      const runId = await writing(false, async () => triggerSchedule(database, name))
      wake()
      return runId
    },
    delete: async (name) => writing(true, async () => deleteSchedule(database, name)),
  }
}
