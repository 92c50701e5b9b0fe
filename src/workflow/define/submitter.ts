// What definitions ask of a client: to start runs of them, in its own commit or in the caller's open transaction, and the
// handles that come back. Types only, so that a definition can be imported anywhere.
import type { OpenClient } from '../../client/transaction-client.ts'
import type { Joinable } from '../../protocol/joinable.ts'
import type { Defined } from './definition.ts'
import type { Duration } from './policy.ts'

export interface SubmitOptions {
  /** One run per key and workflow. A known key with the same input attaches to its run. */
  readonly key?: string | undefined
  /** `refuse` a known key even with the same input. Default `attach`. */
  readonly onKnownKey?: 'attach' | 'refuse' | undefined
  /** Not before. */
  readonly delay?: Duration | undefined
  /** Higher first; default the definition's. */
  readonly priority?: number | undefined
  readonly tags?: readonly string[] | undefined
  /** A run that has not ended by then fails. */
  readonly deadline?: Duration | undefined
}

export type RunState = 'pending' | 'running' | 'sleeping' | 'compensating' | 'completed' | 'failed' | 'cancelled'

export interface RunStatus {
  readonly id: string
  readonly state: RunState
  readonly workflow: string
  readonly version: string | null
  readonly attempt: number
  readonly progress: unknown
  readonly error: Error | null
  readonly priority: number
  readonly tags: readonly string[]
  readonly key: string | null
  /** ISO-8601 UTC with microseconds. */
  readonly createdAt: string
  readonly finishedAt: string | null
  /** The slot that a schedule started it for, as `ctx.occurrence`; null when no schedule did. */
  readonly occurrence: string | null
}

export interface WaitOptions {
  /** Throw `wait_timeout` when the run has not ended by then; the run goes on. Default: wait for ever. */
  readonly timeout?: Duration | undefined
  /** Gives the waiting up; the run goes on. */
  readonly signal?: AbortSignal | undefined
}

/** Before the submitting transaction's commit every call answers RunNotFoundError at once. */
export interface RunHandle<Out> {
  readonly id: string
  /** False: a known key, and this is the run that has it. */
  readonly created: boolean
  readonly status: () => Promise<RunStatus>
  /** Until the run has ended, however it ends; an outage of less than a minute is waited out. */
  readonly wait: (options?: WaitOptions) => Promise<RunStatus>
  /** Waits; the output, or an error whose cause is the failed step's. */
  readonly result: (options?: WaitOptions) => Promise<Out>
  /** The state the run is in afterwards. */
  readonly cancel: (reason?: string) => Promise<RunState>
  /** Starts a failed or cancelled run again where it stopped. One that was undone is left as it is. */
  readonly retry: () => Promise<RunState>
  /** Kept until a step takes it. False: the run has ended. */
  readonly signal: (name: string, payload?: unknown) => Promise<boolean>
}

/** Anything that starts runs: a client, a transaction that was joined, a step. */
export interface Starter {
  readonly submit: <In, Out>(what: Startable<In, Out>, input: In, options?: SubmitOptions) => Promise<RunHandle<Out>>
  readonly enqueue: <In, Out>(what: Startable<In, Out>, input: In, options?: SubmitOptions) => Promise<RunHandle<Out>>
  readonly submitMany: <In, Out>(
    what: Startable<In, Out>,
    inputs: readonly In[],
    options?: SubmitOptions,
  ) => Promise<readonly RunHandle<Out>[]>
  readonly enqueueMany: <In, Out>(
    what: Startable<In, Out>,
    inputs: readonly In[],
    options?: SubmitOptions,
  ) => Promise<readonly RunHandle<Out>[]>
}

/** A client, as definitions see it. */
export interface Submitter extends Starter {
  readonly in: (tx: OpenClient | Joinable) => Starter
}

declare const types: unique symbol

/** The types that a definition carries; nothing at run time. */
export interface Typed<In, Out> {
  readonly [types]?: { readonly in: (input: In) => void; readonly out: Out }
}

export type Startable<In, Out> = Defined & Typed<In, Out>
