// The name of a schedule as a command's argument, and what to say when there is none of it.

import { LockstepError } from '../protocol/errors.ts'

export const SCHEDULE_ARGUMENT = { name: 'name', meaning: 'The name of the schedule.' } as const

export function noSuchSchedule(name: string): LockstepError {
  return new LockstepError('not_found', `No schedule is called ${name}.`, { hint: 'lockstep schedule list' })
}
