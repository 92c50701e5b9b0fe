// Schedules as data: what is defined, and what is listed.
import type { Rhythm } from './next-slots.ts'

/** skip: slots that nobody was there for are left out. once: the last of them runs. all: each of them runs. */
export type Misfire = 'skip' | 'once' | 'all'
/** allow: a run may start while the one before goes on. skip: its slot is left out. */
export type Overlap = 'allow' | 'skip'

export interface ScheduleDefinition extends Rhythm {
  readonly name: string
  /** A registered workflow or action. */
  readonly target: string
  /** JSON text. */
  readonly input: string
  readonly priority: number
  readonly misfire: Misfire
  readonly overlap: Overlap
}

export interface ShownSlot {
  readonly dueAt: string
  readonly outcome: 'fired' | 'missed' | 'overlapped'
  readonly runId: string | null
}

export interface ShownSchedule extends ScheduleDefinition {
  readonly paused: boolean
  readonly nextAt: string | null
  readonly lastRun: string | null
  readonly lastSlots: readonly ShownSlot[]
}
