// What the client's verbs about schedules ask of the way they were made by. Types only.
import type { Rhythm } from '../../protocol/next-slots.ts'
import type { ScheduleDefinition, ShownSchedule } from '../../protocol/schedule.ts'

export interface ScheduleCalls {
  readonly put: (definition: ScheduleDefinition) => Promise<'created' | 'changed' | 'unchanged'>
  /** All, or the one of a name. */
  readonly list: (name: string | null) => Promise<readonly ShownSchedule[]>
  readonly preview: (rhythm: Rhythm, count: number) => Promise<readonly string[]>
  /** False when there is none of the name. */
  readonly pause: (name: string, paused: boolean) => Promise<boolean>
  /** The id of the run. */
  readonly trigger: (name: string) => Promise<string>
  readonly delete: (name: string) => Promise<boolean>
}
