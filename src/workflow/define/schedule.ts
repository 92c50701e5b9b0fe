// A schedule declared as a value: when, and what it starts with which input, typed by the workflow or action itself. Pure: it
// exists when a client has put it, and fires when some process does upkeep.
import { optional, refuse, root } from '../../protocol/check.ts'
import { onlyKnown } from '../../protocol/only-known.ts'
import {
  misfireChoice,
  overlapChoice,
  scheduleCron,
  scheduleInterval,
  scheduleName,
  schedulePriority,
  scheduleZone,
} from '../../protocol/schedule-request.ts'
import type { Misfire, Overlap } from '../../protocol/schedule.ts'
import { DEFINITION } from './definition.ts'
import { milliseconds, type Duration } from './policy.ts'
import type { Startable } from './submitter.ts'

export interface RhythmOptions {
  /** Five fields, or six with seconds first. */
  readonly cron?: string | undefined
  /** The IANA time zone of the expression; default 'UTC'. */
  readonly zone?: string | undefined
  /** Instead of `cron`: a fixed interval, at least '1s'. */
  readonly every?: Duration | undefined
}

export interface ScheduleSpec<Name extends string, In, Out> extends RhythmOptions {
  readonly name: Name
  /** What each slot starts: a workflow, an action, or the name that a worker registered one by. */
  readonly target: Startable<In, Out> | string
  /** Of each run. */
  readonly input: NoInfer<In>
  /** Default the target's. */
  readonly priority?: number | undefined
  /** What to do with slots that nobody was there for: none of them, the last (default), all. */
  readonly misfire?: Misfire | undefined
  /** `skip` leaves a slot out while the run before goes on. Default `allow`. */
  readonly overlap?: Overlap | undefined
}

export interface Schedule<Name extends string, In, Out> extends ScheduleSpec<Name, In, Out> {
  readonly zone: string
  readonly misfire: Misfire
  readonly overlap: Overlap
}

export interface CheckedRhythm {
  readonly cron: string | null
  readonly zone: string
  readonly intervalMs: number | null
}

export function checkedRhythm({ cron, zone, every }: RhythmOptions): CheckedRhythm {
  if ((cron === undefined) === (every === undefined)) {
    refuse(root(), 'cron', 'given, or `every`, and not both')
  }
  return {
    cron: cron === undefined ? null : scheduleCron.read(cron, root(), 'cron'),
    zone: optional(scheduleZone, 'UTC').read(zone, root(), 'zone'),
    intervalMs: every === undefined ? null : scheduleInterval.read(milliseconds(every, 'every'), root(), 'every'),
  }
}

const OPTIONS = ['name', 'target', 'input', 'cron', 'zone', 'every', 'priority', 'misfire', 'overlap']

function isTarget(target: unknown): boolean {
  return typeof target === 'object' && target !== null && DEFINITION in target
}

export function schedule<const Name extends string, In, Out>(
  spec: ScheduleSpec<Name, In, Out>,
): Schedule<Name, In, Out> {
  onlyKnown(spec, OPTIONS, 'a schedule')
  scheduleName.read(spec.name, root(), 'name')
  if (typeof spec.target === 'string') scheduleName.read(spec.target, root(), 'target')
  else if (!isTarget(spec.target)) refuse(root(), 'target', 'a workflow, an action or the name of one')
  if (spec.priority !== undefined) schedulePriority.read(spec.priority, root(), 'priority')
  return Object.freeze({
    ...spec,
    zone: checkedRhythm(spec).zone,
    misfire: optional(misfireChoice, 'once').read(spec.misfire, root(), 'misfire'),
    overlap: optional(overlapChoice, 'allow').read(spec.overlap, root(), 'overlap'),
  })
}
