// The client's verbs about schedules. A schedule is checked by its target's schema and written as JSON here; slots are computed
// and judged where the database's clock is.
import { root } from '../../protocol/check.ts'
import { previewCount, scheduleName } from '../../protocol/schedule-request.ts'
import type { ShownSchedule } from '../../protocol/schedule.ts'
import { definitionIn } from '../define/definition.ts'
import { checkedInput, runText } from '../define/plan-node.ts'
import { checkedRhythm, schedule, type RhythmOptions, type ScheduleSpec } from '../define/schedule.ts'
import type { RunHandle, Startable } from '../define/submitter.ts'
import type { RunCalls } from './run-calls.ts'
import { runHandle } from './run-handle.ts'
import type { ScheduleCalls } from './schedule-calls.ts'

/** Instants are ISO-8601 UTC. */
export interface ScheduleStatus extends Omit<ShownSchedule, 'input'> {
  readonly input: unknown
}

export interface PreviewOptions {
  /** How many; default 10. */
  readonly count?: number | undefined
}

export interface Schedules {
  /** Creates or changes it. The same again changes nothing, from any number of processes. */
  put<const Name extends string, In, Out>(
    what: ScheduleSpec<Name, In, Out>,
  ): Promise<'created' | 'changed' | 'unchanged'>
  list(): Promise<readonly ScheduleStatus[]>
  /** Null when there is none of the name. */
  get(what: Scheduled): Promise<ScheduleStatus | null>
  /** The next slots, ISO-8601 UTC, by the database's clock. Nothing is stored. */
  preview(rhythm: RhythmOptions, options?: PreviewOptions): Promise<readonly string[]>
  /** False when there is none of the name; so with resume and delete. */
  pause(what: Scheduled): Promise<boolean>
  /** Fires again from the first slot after now: what passed meanwhile is not made up for. */
  resume(what: Scheduled): Promise<boolean>
  /** Starts a run now, outside of the slots. */
  trigger<Out = unknown>(what: string | Triggered<Out>): Promise<RunHandle<Out>>
  /** The runs it started go on. */
  delete(what: Scheduled): Promise<boolean>
}

/** A declared schedule, as what its run brings. */
export interface Triggered<Out> {
  readonly name: string
  readonly target: Startable<never, Out> | string
}

/** A schedule, or its name. */
export type Scheduled = string | { readonly name: string }

function nameOf(what: Scheduled): string {
  return scheduleName.read(typeof what === 'string' ? what : what.name, root(), 'schedule')
}

function statusOf({ input, ...rest }: ShownSchedule): ScheduleStatus {
  return { ...rest, input: JSON.parse(input) }
}

export function scheduleEntry(calls: ScheduleCalls, runs: RunCalls): Schedules {
  return {
    async put(what) {
      const declared = schedule(what)
      const { name, target, priority, misfire, overlap } = declared
      const definition = typeof target === 'string' ? null : definitionIn(target)
      if (definition !== null) await checkedInput(definition, declared.input)
      return calls.put({
        name,
        ...checkedRhythm(declared),
        target: typeof target === 'string' ? target : definitionIn(target).name,
        input: runText(declared.input, 'input'),
        priority: priority ?? definition?.policy.priority ?? 0,
        misfire,
        overlap,
      })
    },
    list: async () => (await calls.list(null)).map(statusOf),
    async get(what) {
      const [found] = await calls.list(nameOf(what))
      return found === undefined ? null : statusOf(found)
    },
    preview: async (rhythm, { count = 10 } = {}) =>
      calls.preview(checkedRhythm(rhythm), previewCount.read(count, root(), 'count')),
    pause: async (what) => calls.pause(nameOf(what), true),
    resume: async (what) => calls.pause(nameOf(what), false),
    trigger: async (what) => runHandle(runs, await calls.trigger(nameOf(what)), true, null),
    delete: async (what) => calls.delete(nameOf(what)),
  }
}
