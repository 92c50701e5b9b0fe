// What an action's handler is given. Made for every attempt, so its members that few handlers touch are on a prototype: an object
// literal with accessors gets a shape of its own each time, which cost 2.5 µs and 2 kB a job. That is the one reason for a class.
import type { Logger } from '../../client/logger.ts'
import type { StepContext, StepLog } from '../define/contexts.ts'
import { runText } from '../define/plan-node.ts'
import type { Held } from '../worker/held-nodes.ts'
import type { LazyStep } from './lazy-step.ts'
import type { StepWrites } from './step-writes.ts'

export interface ContextPorts {
  readonly log: Logger
  readonly progress: (held: Held, text: string) => Promise<void>
}

export interface ContextOf {
  readonly held: Held
  readonly runId: string
  readonly node: string
  readonly attempt: number
  readonly occurrence: string | null
}

export function stepLog(log: Logger, about: Readonly<Record<string, unknown>>): StepLog {
  return {
    info: (message, details = {}) => log.info?.({ ...about, ...details }, message),
    warn: (message, details = {}) => log.warn({ ...about, ...details }, message),
  }
}

class AttemptContext implements StepContext<unknown> {
  readonly runId: string
  readonly node: string
  readonly attempt: number
  readonly idempotencyKey: string
  readonly occurrence: string | null
  // Functions of their own, so that a handler may take them out of the context.
  readonly completionTx: StepContext<unknown>['completionTx']
  readonly queue: StepContext<unknown>['queue']
  readonly guard: StepContext<unknown>['guard']
  readonly submit: StepContext<unknown>['submit']
  readonly enqueue: StepContext<unknown>['enqueue']
  readonly submitMany: StepContext<unknown>['submitMany']
  readonly enqueueMany: StepContext<unknown>['enqueueMany']
  readonly progress: StepContext<unknown>['progress']
  readonly #log: Logger
  readonly #writes: () => StepWrites
  readonly #signal: () => AbortSignal

  constructor(ports: ContextPorts, of: ContextOf, step: LazyStep, writes: () => StepWrites, signal: () => AbortSignal) {
    this.runId = of.runId
    this.node = of.node
    this.attempt = of.attempt
    this.idempotencyKey = `${of.runId}:${of.node}`
    this.occurrence = of.occurrence
    this.completionTx = async () => (await step.open()).tx
    this.queue = (given: Parameters<StepWrites['queue']>[0]) => writes().queue(given)
    this.guard = async (lock) => writes().guard(lock)
    this.submit = async (what, input, options) => writes().submit(what, input, options)
    this.enqueue = async (what, input, options) => writes().enqueue(what, input, options)
    this.submitMany = async (what, inputs, options) => writes().submitMany(what, inputs, options)
    this.enqueueMany = async (what, inputs, options) => writes().enqueueMany(what, inputs, options)
    this.progress = async (value) => ports.progress(of.held, runText(value, 'progress'))
    this.#log = ports.log
    this.#writes = writes
    this.#signal = signal
  }

  get abortSignal(): AbortSignal {
    return this.#signal()
  }

  get log(): StepLog {
    return stepLog(this.#log, { runId: this.runId, node: this.node, attempt: this.attempt })
  }

  get kv(): StepWrites['kv'] {
    return this.#writes().kv
  }

  get timers(): StepWrites['timers'] {
    return this.#writes().timers
  }
}

export function attemptContext(
  ports: ContextPorts,
  of: ContextOf,
  step: LazyStep,
  writes: () => StepWrites,
  signal: () => AbortSignal,
): StepContext<unknown> {
  return new AttemptContext(ports, of, step, writes, signal)
}
