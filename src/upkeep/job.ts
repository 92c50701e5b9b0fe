// What a piece of upkeep is to its runner: a name, a pace, and one bounded step that says whether it should go on at once.
import type { Executor } from '../db/executor.ts'

export interface Step {
  /** Rows placed or removed. */
  readonly done: number
  /** True: there is more to do now; false: look again after the job's pause. */
  readonly more: boolean
  /** Look again after this long: something is due sooner than after the job's pause, or the rest is in no hurry. */
  readonly waitMs?: number
}

export interface Job {
  readonly name: string
  /** The pause after a step that left nothing to do. */
  readonly pauseMs: number
  step(db: Executor): Promise<Step>
}
