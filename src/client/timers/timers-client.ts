// The timer verbs, over whatever carries them: the client's own calls, or a transaction that is open already. A timer is named
// by queue and key; scheduling it again replaces it.
import { integer, optional, root, text } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { timerKey } from '../../protocol/names.ts'
import type { ReadTimer, ShownTimer, TimerOperation, TimerResult } from '../../protocol/timer.ts'
import { definitionOf } from '../queue-definition.ts'
import type { Untyped } from '../untyped.ts'
import {
  cancelOperation,
  scheduleOperation,
  scheduleOperations,
  type NamedQueue,
  type TimerInput,
  type TimerOptions,
  type TimerQueue,
} from './timer-input.ts'
import {
  cancelledOf,
  pendingTimer,
  scheduledOf,
  timerEntry,
  type TimerCancelled,
  type TimerEntry,
  type TimerList,
  type TimerScheduled,
} from './timer-outcome.ts'

/** What changes timers; in a transaction it happens when that commits. */
export interface TimerWrites {
  /** Pushes `data` to the queue once, after the delay; a pending timer of this key is replaced. */
  schedule<In = Untyped>(
    queue: TimerQueue<In>,
    key: string,
    data: NoInfer<In>,
    options: TimerOptions,
  ): Promise<TimerScheduled>
  /** Many of one queue in one commit. */
  scheduleMany<In = Untyped>(
    queue: TimerQueue<In>,
    timers: readonly TimerInput<NoInfer<In>>[],
  ): Promise<readonly TimerScheduled[]>
  cancel(queue: NamedQueue, key: string): Promise<TimerCancelled>
}

export interface Timers extends TimerWrites {
  /** A pending timer with its data. */
  get<V = Untyped>(queue: NamedQueue, key: string): Promise<TimerEntry<V>>
  list(queue: NamedQueue, options?: TimerListOptions): Promise<TimerList>
}

export interface TimerListOptions {
  /** 1 to 1000; default 100. */
  readonly limit?: number | undefined
  /** Only keys behind this one: the last answer's nextAfter. */
  readonly after?: string | undefined
}

export interface TimerCalls {
  readonly timers: (operations: readonly TimerOperation[]) => Promise<readonly TimerResult[]>
  readonly timer: (queue: string, key: string) => Promise<ReadTimer | null>
  readonly timerPage: (
    queue: string,
    after: string,
    limit: number,
  ) => Promise<{ readonly timers: readonly ShownTimer[]; readonly truncated: boolean }>
}

export function timerWrites(run: TimerCalls['timers']): TimerWrites {
  return {
    async schedule(queue, key, data, options) {
      return scheduledOf((await run([await scheduleOperation(queue, key, data, options)]))[0])
    },
    async scheduleMany(queue, timers) {
      const results = await run(await scheduleOperations(queue, timers))
      return timers.map((_, at) => scheduledOf(results[at]))
    },
    async cancel(queue, key) {
      return cancelledOf((await run([cancelOperation(queue, key)]))[0])
    },
  }
}

const pageSize = optional(integer(1, LIMITS.listLimit), LIMITS.listLimitDefault)
const afterKey = optional(text({ max: LIMITS.timerKeyBytes }), '')

export function timersClient(calls: TimerCalls): Timers {
  return {
    ...timerWrites(calls.timers),
    async get(queue, key) {
      return timerEntry(await calls.timer(definitionOf(queue).name, timerKey.read(key, root(), 'key')))
    },
    async list(queue, options = {}) {
      const limit = pageSize.read(options.limit, root(), 'limit')
      const after = afterKey.read(options.after, root(), 'after')
      const { timers, truncated } = await calls.timerPage(definitionOf(queue).name, after, limit)
      return { timers: timers.map(pendingTimer), nextAfter: truncated ? (timers.at(-1)?.key ?? null) : null }
    },
  }
}
