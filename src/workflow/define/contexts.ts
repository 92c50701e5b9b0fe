// What handlers are given: the context of an action's attempt, and that of a workflow written as code. Types only; the
// worker's room has what stands behind them.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { KvEntry } from '../../client/kv-outcome.ts'
import type { KvCheckOptions, KvCreateOptions, KvGuard, KvIncrOptions, KvPutOptions } from '../../client/kv-input.ts'
import type { Guardian } from '../../client/locks/held-lock.ts'
import type { PushInput } from '../../client/push-input.ts'
import type { QueueDefinition } from '../../client/queue-definition.ts'
import type { NamedQueue, TimerOptions, TimerQueue } from '../../client/timers/timer-input.ts'
import type { TransactionClient } from '../../client/transaction-client.ts'
import type { TransactionScope } from '../../client/transaction-scope.ts'
import type { Untyped } from '../../client/untyped.ts'
import type { Jsonified } from './jsonified.ts'
import type { Duration } from './policy.ts'
import type { Startable, Starter } from './submitter.ts'

export type PgTx = TransactionClient

export interface StepLog {
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** Pushes that join the step's commit. */
export interface StepQueue<In> {
  partition(name: string): StepQueue<In>
  push(items: PushInput<In> | readonly PushInput<In>[]): Promise<void>
}

/** State that joins the step's commit; reads look at what is committed. A lost `required` write undoes the step. */
export interface StepKv {
  get<V = Untyped>(ns: string, key: string): Promise<KvEntry<V>>
  put(ns: string, key: string, value: unknown, options: KvPutOptions): Promise<void>
  putIfAbsent(ns: string, key: string, value: unknown, options: KvCreateOptions): Promise<void>
  delete(ns: string, key: string, options?: KvGuard): Promise<void>
  incr(ns: string, key: string, delta: number, options: KvIncrOptions): Promise<void>
  check(ns: string, key: string, options: KvCheckOptions): Promise<void>
}

/** Timers that join the step's commit. */
export interface StepTimers {
  schedule<In = Untyped>(queue: TimerQueue<In>, key: string, data: NoInfer<In>, options: TimerOptions): Promise<void>
  cancel(queue: NamedQueue, key: string): Promise<void>
}

interface Attempt {
  readonly runId: string
  /** The node's name, the same on every attempt and every reclaim. */
  readonly node: string
  /** From 1. Never part of a key. */
  readonly attempt: number
  /** `${runId}:${node}`: hand it to whatever must act once. */
  readonly idempotencyKey: string
  /** The slot that a schedule started this run for, ISO-8601 UTC with microseconds; null when no schedule did. */
  readonly occurrence: string | null
  /** Aborted at the timeout, when the lease is lost, when the run is cancelled and when the worker's patience ends. */
  readonly abortSignal: AbortSignal
  readonly log: StepLog
}

export interface StepContext<Tx = PgTx> extends Attempt, Starter {
  /**
   * The transaction in which this step completes, opened at the first call: what is written through it, the step's record and
   * its successors commit together. Slow outside calls come before it, so that they hold no connection.
   */
  completionTx(): Promise<Tx>
  queue(name: string): StepQueue<Untyped>
  queue<In, Out>(definition: QueueDefinition<string, In, Out>): StepQueue<In>
  readonly kv: StepKv
  readonly timers: StepTimers
  /** The step completes only while the lock is held; otherwise it is undone. */
  guard(lock: Guardian): Promise<void>
  /** How far it has come, for people; seen at once. */
  progress(value: unknown): Promise<void>
}

/** Inside `ctx.step`: one commit of the step's writes and its record. */
export interface CodeStep<Tx = PgTx> extends TransactionScope {
  readonly tx: Tx
  readonly idempotencyKey: string
  readonly abortSignal: AbortSignal
}

export interface KeyOptions {
  /** Told apart from other steps of the same name; needed while one of that name is in flight. */
  readonly key?: string | undefined
}

export interface WaitForSignalOptions<S extends StandardSchemaV1> extends KeyOptions {
  readonly timeout?: Duration | undefined
  readonly schema?: S | undefined
}

export interface CodeContext<Tx = PgTx> extends Attempt {
  readonly workflow: string
  /** Done once: its writes and its record are one commit, and later runs of the code get the recorded output. */
  step<Out>(name: string, work: (step: CodeStep<Tx>) => Out): Promise<Jsonified<Awaited<Out>>>
  step<Out>(name: string, options: KeyOptions, work: (step: CodeStep<Tx>) => Out): Promise<Jsonified<Awaited<Out>>>
  /** An action, with its own retries. Throws `step_failed` when it failed for good. */
  call<In, Out>(name: string, action: Startable<In, Out>, input: In, options?: KeyOptions): Promise<Out>
  /** Another workflow as a run of its own; waits for its result. */
  run<In, Out>(name: string, workflow: Startable<In, Out>, input: In, options?: KeyOptions): Promise<Out>
  /** Holds no worker. */
  sleep(name: string, duration: Duration, options?: KeyOptions): Promise<void>
  /** The oldest signal of that name; null when the timeout came first. Holds no worker. */
  waitForSignal<S extends StandardSchemaV1>(
    name: string,
    options: { readonly timeout: Duration; readonly schema: S } & KeyOptions,
  ): Promise<StandardSchemaV1.InferOutput<S> | null>
  waitForSignal<S extends StandardSchemaV1>(
    name: string,
    options: { readonly schema: S } & KeyOptions,
  ): Promise<StandardSchemaV1.InferOutput<S>>
  waitForSignal<T = Untyped>(name: string, options: { readonly timeout: Duration } & KeyOptions): Promise<T | null>
  waitForSignal<T = Untyped>(name: string, options?: KeyOptions): Promise<T>
  /** Waits for all, also when one fails; then throws the first failure. */
  all<const T extends readonly unknown[]>(steps: T): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }>
  /** True in runs that come here for the first time; false in those that had passed this place before the change. Stable for a run. */
  patch(name: string): Promise<boolean>
  progress(value: unknown): Promise<void>
}
