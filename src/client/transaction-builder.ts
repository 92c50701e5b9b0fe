// One step built up in any order: acks, key/value operations, pushes, timers, runs, guards; `commit` sends it once under a request id,
// so that a lost answer followed by a retry tells the first result. Every call returns a new transaction; nothing is sent before commit.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { root } from '../protocol/check.ts'
import { LockstepError } from '../protocol/errors.ts'
import type { KvOperation } from '../protocol/kv.ts'
import type { AckItem } from '../protocol/message.ts'
import { mintId } from '../protocol/mint-id.ts'
import { partitionName, requestIdText } from '../protocol/names.ts'
import { onlyKnown } from '../protocol/only-known.ts'
import type { OutgoingRun } from '../protocol/run.ts'
import type { TimerOperation } from '../protocol/timer.ts'
import { ackItem, type AckOptions, type AckRef, type AckVerb } from './ack-input.ts'
import type { Attempts } from './attempts.ts'
import { commitResult, type CommitResult } from './commit-result.ts'
import {
  checkOperation,
  deleteOperation,
  incrOperation,
  putIfAbsentOperation,
  putOperation,
  type KvCheckOptions,
  type KvCreateOptions,
  type KvGuard,
  type KvIncrOptions,
  type KvPutOptions,
} from './kv-input.ts'
import { guardedCommit } from './guarded-commit.ts'
import type { Guardian } from './locks/held-lock.ts'
import { outgoingItems, type PushInput } from './push-input.ts'
import { definitionOf, type QueueDefinition } from './queue-definition.ts'
import type { OutgoingItem, OutgoingOperation, Transport } from './transport.ts'
import {
  cancelOperation,
  scheduleOperation,
  type NamedQueue,
  type TimerOptions,
  type TimerQueue,
} from './timers/timer-input.ts'
import { definitionIn } from '../workflow/define/definition.ts'
import type { Startable, SubmitOptions } from '../workflow/define/submitter.ts'
import { outgoingRun, runOptions } from '../workflow/run/outgoing-run.ts'
import type { Untyped } from './untyped.ts'

export interface TransactionKv {
  put(ns: string, key: string, value: unknown, options: KvPutOptions): Transaction
  putIfAbsent(ns: string, key: string, value: unknown, options: KvCreateOptions): Transaction
  delete(ns: string, key: string, options?: KvGuard): Transaction
  incr(ns: string, key: string, delta: number, options: KvIncrOptions): Transaction
  /** Writes nothing; holds the version until the commit. */
  check(ns: string, key: string, options: KvCheckOptions): Transaction
}

export interface TransactionQueue<In> {
  partition(name: string): TransactionQueue<In>
  push(items: PushInput<In> | readonly PushInput<In>[]): Transaction
}

export interface TransactionTimers {
  /** Pushes `data` to the queue once, after the delay; a pending timer of this key is replaced. */
  schedule<In = Untyped>(queue: TimerQueue<In>, key: string, data: NoInfer<In>, options: TimerOptions): Transaction
  cancel(queue: NamedQueue, key: string): Transaction
}

export type JoinedRunOptions = Omit<SubmitOptions, 'onKnownKey'>

export interface CommitOptions {
  /** Throw LockstepError `rolled_back` instead of answering `success: false`. */
  readonly orThrow?: boolean | undefined
  /** Default: minted. Repeating a step under the same id within 24 hours answers its first committed result. */
  readonly requestId?: string | undefined
}

export interface Transaction {
  /** Group and lease are read off the message. */
  ack(messages: AckRef | readonly AckRef[], status?: AckVerb, options?: AckOptions): Transaction
  readonly kv: TransactionKv
  readonly timers: TransactionTimers
  /**
   * Starts a run of an action or workflow in the same commit. A known key with the same input is its run; with another the
   * result is `run_conflict`.
   */
  submit<In, Out>(what: Startable<In, Out>, input: In, options?: JoinedRunOptions): Transaction
  /** The same; reads better for an action. */
  enqueue<In, Out>(what: Startable<In, Out>, input: In, options?: JoinedRunOptions): Transaction
  /** Commits only while the lock is held; otherwise the result is `lock_lost`. A renewal meanwhile does no harm. */
  guard(lock: Guardian): Transaction
  queue(name: string): TransactionQueue<Untyped>
  queue<In, Out>(definition: QueueDefinition<string, In, Out>): TransactionQueue<In>
  queue<S extends StandardSchemaV1>(name: string, schema: S): TransactionQueue<StandardSchemaV1.InferInput<S>>
  commit(options?: CommitOptions): Promise<CommitResult>
}

export interface StepSender {
  readonly transaction: Transport['transaction']
  readonly attempts: Attempts
}

type Part =
  | { readonly type: 'ack'; readonly item: AckItem }
  /** Checked and serialized when it was added; a schema may be asynchronous, so the result is awaited at the commit. */
  | { readonly type: 'push'; readonly items: Promise<readonly OutgoingItem[]> }

interface Draft {
  readonly parts: readonly Part[]
  readonly kv: readonly KvOperation[]
  readonly timers: readonly Promise<TimerOperation>[]
  readonly runs: readonly Promise<OutgoingRun>[]
  readonly guardians: readonly Guardian[]
}

const JOINED_RUN_OPTIONS = ['key', 'delay', 'priority', 'tags', 'deadline']

async function operationsOf(parts: readonly Part[]): Promise<readonly OutgoingOperation[]> {
  const operations: OutgoingOperation[] = []
  for (const part of parts) {
    if (part.type === 'ack') operations.push(part)
    else for (const item of await part.items) operations.push({ type: 'push', item })
  }
  return operations
}

async function commit(sender: StepSender, draft: Draft, options: CommitOptions): Promise<CommitResult> {
  const operations = await operationsOf(draft.parts)
  const timers = await Promise.all(draft.timers)
  const runs = await Promise.all(draft.runs)
  if (operations.length + draft.kv.length + timers.length + runs.length === 0) {
    throw new LockstepError('bad_request', 'the transaction is empty: ack, push, write or submit something first')
  }
  const requestId =
    options.requestId === undefined ? mintId() : requestIdText.read(options.requestId, root(), 'requestId')
  sender.attempts.refuseInStep(operations.flatMap((operation) => (operation.type === 'ack' ? [operation.item] : [])))
  const step = { requestId, operations, kv: draft.kv, timers, runs }
  const result = commitResult(
    requestId,
    operations,
    step,
    await guardedCommit(sender.transaction, step, draft.guardians),
  )
  note(sender.attempts, operations, result)
  if (!result.success && options.orThrow === true) {
    throw new LockstepError('rolled_back', `rolled back: ${result.reason}: ${result.error}`, { ...result })
  }
  return result
}

function note(attempts: Attempts, operations: readonly OutgoingOperation[], result: CommitResult): void {
  for (const [index, operation] of operations.entries()) {
    if (operation.type !== 'ack') continue
    if (result.success) {
      const outcome = result.results[index]
      if (outcome?.type === 'ack') attempts.acked(operation.item, outcome)
    } else if (result.reason === 'lease_lost') attempts.leaseLost(operation.item)
    else attempts.lost(operation.item, result)
  }
}

function drafted(sender: StepSender, draft: Draft): Transaction {
  const withPart = (part: Part): Transaction => drafted(sender, { ...draft, parts: [...draft.parts, part] })
  const withKv = (operation: KvOperation): Transaction => drafted(sender, { ...draft, kv: [...draft.kv, operation] })

  function withTimer(operation: Promise<TimerOperation>): Transaction {
    operation.catch(() => {})
    return drafted(sender, { ...draft, timers: [...draft.timers, operation] })
  }

  function withRun<In, Out>(what: Startable<In, Out>, input: In, options: JoinedRunOptions = {}): Transaction {
    onlyKnown(options, JOINED_RUN_OPTIONS, 'a submission in a transaction')
    const run = outgoingRun(definitionIn(what), input, runOptions(options))
    run.catch(() => {})
    return drafted(sender, { ...draft, runs: [...draft.runs, run] })
  }

  function pushTo(
    definition: QueueDefinition<string, unknown, unknown>,
    partition: string | null,
  ): TransactionQueue<Untyped> {
    return {
      partition: (name) => pushTo(definition, partitionName.read(name, root(), 'partition')),
      push(inputs) {
        const items = outgoingItems(inputs, definition.name, partition, definition.schema)
        // Awaited at the commit; a transaction that is never committed must not raise an unhandled rejection.
        items.catch(() => {})
        return withPart({ type: 'push', items })
      },
    }
  }

  return {
    ack(messages, status, options) {
      const refs: readonly AckRef[] = Array.isArray(messages) ? messages : [messages]
      const parts = refs.map((ref): Part => ({ type: 'ack', item: ackItem(ref, status, options) }))
      return drafted(sender, { ...draft, parts: [...draft.parts, ...parts] })
    },
    kv: {
      put: (ns, key, value, options) => withKv(putOperation(ns, key, value, options)),
      putIfAbsent: (ns, key, value, options) => withKv(putIfAbsentOperation(ns, key, value, options)),
      delete: (ns, key, options) => withKv(deleteOperation(ns, key, options)),
      incr: (ns, key, delta, options) => withKv(incrOperation(ns, key, delta, options)),
      check: (ns, key, options) => withKv(checkOperation(ns, key, options)),
    },
    timers: {
      schedule: (queue, key, data, options) => withTimer(scheduleOperation(queue, key, data, options)),
      cancel: (queue, key) => withTimer(Promise.resolve(cancelOperation(queue, key))),
    },
    submit: withRun,
    enqueue: withRun,
    guard: (lock) => drafted(sender, { ...draft, guardians: [...draft.guardians, lock] }),
    queue: (given: string | QueueDefinition<string, Untyped, Untyped>, schema?: StandardSchemaV1) =>
      pushTo(definitionOf(given, schema), null),
    commit: async (options = {}) => commit(sender, draft, options),
  }
}

/** An empty transaction. */
export function transactionBuilder(sender: StepSender): Transaction {
  return drafted(sender, { parts: [], kv: [], timers: [], runs: [], guardians: [] })
}
