// What a builder of an ephemeral queue has gathered: where to push and from where to take, for whom and how much. Every setting
// returns a new builder over a new plan and is checked when it is said.
import { integer, refuse, root } from '../../protocol/check.ts'
import { ephemeralOptions } from '../../protocol/ephemeral-options.ts'
import type { EphemeralOptions } from '../../protocol/ephemeral.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { QUEUE_MODE } from '../../protocol/message.ts'
import { groupName, partitionName } from '../../protocol/names.ts'
import type { QueueDefinition } from '../queue-definition.ts'

/** Options of an ephemeral queue; what is left out has its default. Lengths in bytes, times with their unit last. */
export type EphemeralSettings = { readonly [K in keyof EphemeralOptions]?: EphemeralOptions[K] | undefined }

export interface EphemeralPlan {
  readonly definition: QueueDefinition<string, unknown, unknown>
  readonly partition: string | null
  readonly group: string
  /** Null: 1 for a pop, 10 for a loop. */
  readonly batch: number | null
  readonly wait: boolean
  readonly timeoutMs: number
  readonly autoAck: boolean
  readonly commitOnDelivery: boolean
  readonly options: EphemeralOptions
}

export interface EphemeralGrammar<Self> {
  /** Where pushes go and the only one that is taken from. Default: pushes go to `Default`, and any is taken from. */
  partition(name: string): Self
  /** Members of one group share the messages; each group sees all of them. */
  group(name: string): Self
  /** Messages taken at once: 1 for a pop unless said, 10 for `messages()`. */
  batch(messages: number): Self
  /** Whether a pop waits when there is nothing; `messages()` always does. */
  wait(on: boolean): Self
  /** Milliseconds that one wait lasts; default 30,000. */
  timeout(milliseconds: number): Self
  /** True (the default): `messages()` completes a message when the next one is asked for. */
  autoAck(on: boolean): Self
  /** What is delivered is done with: nothing to acknowledge, and lost if it is not worked on. */
  commitOnDelivery(on?: boolean): Self
  /** Options for `create`. */
  config(settings: EphemeralSettings): Self
}

const batchSize = integer(1, LIMITS.popBatch)
const waitMs = integer(0, LIMITS.popTimeoutMs)

export function ephemeralPlan(definition: QueueDefinition<string, unknown, unknown>): EphemeralPlan {
  return {
    definition,
    partition: null,
    group: QUEUE_MODE,
    batch: null,
    wait: false,
    timeoutMs: LIMITS.popTimeoutDefaultMs,
    autoAck: true,
    commitOnDelivery: false,
    options: ephemeralOptions({}),
  }
}

const flag = (value: unknown, name: string): boolean =>
  typeof value === 'boolean' ? value : refuse(root(), name, 'true or false')

/** As the broker would refuse them, before anything is sent. */
function optionsOf(settings: EphemeralSettings): EphemeralOptions {
  try {
    return ephemeralOptions(settings)
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== 'bad_request') throw error
    throw new LockstepError('ephemeral_bad_request', error.message, error.details)
  }
}

export function ephemeralGrammar<Self>(
  plan: EphemeralPlan,
  next: (plan: EphemeralPlan) => Self,
): EphemeralGrammar<Self> {
  const set = (change: Partial<EphemeralPlan>): Self => next({ ...plan, ...change })
  return {
    partition: (name) => set({ partition: partitionName.read(name, root(), 'partition') }),
    group: (name) => set({ group: groupName.read(name, root(), 'group') }),
    batch: (messages) => set({ batch: batchSize.read(messages, root(), 'batch') }),
    wait: (on) => set({ wait: flag(on, 'wait') }),
    timeout: (milliseconds) => set({ timeoutMs: waitMs.read(milliseconds, root(), 'timeout') }),
    autoAck: (on) => set({ autoAck: flag(on, 'autoAck') }),
    commitOnDelivery: (on = true) => set({ commitOnDelivery: flag(on, 'commitOnDelivery') }),
    config: (settings) => set({ options: optionsOf(settings) }),
  }
}
