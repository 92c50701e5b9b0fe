// The one interface behind the grammar: over HTTP or straight to PostgreSQL. Payloads and values cross it as JSON text,
// ids that make a repeat harmless are minted above it, and expected outcomes are values on both ways.
import type { KvAnswer, KvOperation, KvResult } from '../protocol/kv.ts'
import type { AckItem, AckResult, Delivery, PushResult } from '../protocol/message.ts'
import type { LockOperation, LockResult } from '../protocol/lock.ts'
import type { OutgoingRun, Submitted, SubmittedRun } from '../protocol/run.ts'
import type { TimerOperation, TimerResult } from '../protocol/timer.ts'
import type { StepResult, TransactionResult } from '../protocol/transaction.ts'
import type { RunningWorker, WorkerOptions } from '../workflow/define/worker.ts'
import type { RunCalls } from '../workflow/run/run-calls.ts'
import type { ScheduleCalls } from '../workflow/run/schedule-calls.ts'
import type { HttpCall } from './http/http-call.ts'
import type { EffectiveSettings, QueueSettings } from './queue-settings.ts'
import type { DeadLetterCalls } from './dead-letters/dead-letters-client.ts'
import type { GroupCalls } from './groups/groups-client.ts'
import type { MessageCalls } from './messages/messages-client.ts'
import type { QueueReads } from './queues/queues-client.ts'
import type { StreamCalls } from './streams/stream-calls.ts'
import type { TimerCalls } from './timers/timers-client.ts'
import type { TraceCalls } from './traces/traces-client.ts'
import type { TransactionClient } from './transaction-client.ts'

export interface OutgoingItem {
  readonly queue: string
  readonly partition: string
  /** Always sent, so that the same push arriving twice is stored once. */
  readonly transactionId: string
  readonly payload: string
  readonly traceId: string | null
}

/** One that travels inside an open transaction, which nobody sends twice: without an id of the caller's it needs none. */
export type StagedItem = Omit<OutgoingItem, 'transactionId'> & { readonly transactionId: string | null }

export type OutgoingOperation =
  | { readonly type: 'push'; readonly item: OutgoingItem }
  | { readonly type: 'ack'; readonly item: AckItem }

export interface OutgoingStep {
  /** Always sent: a repeat with the same id answers the first committed result. */
  readonly requestId: string
  readonly operations: readonly OutgoingOperation[]
  readonly kv: readonly KvOperation[]
  readonly timers: readonly TimerOperation[]
  readonly runs: readonly OutgoingRun[]
}

/** A verdict on a step; `request_conflict` is thrown, as it is the caller's mistake. */
export type StepAnswer =
  | {
      readonly success: true
      readonly operations: readonly StepResult[]
      readonly kv: readonly KvResult[]
      readonly timers: readonly TimerResult[]
      readonly runs: readonly SubmittedRun[]
    }
  | Exclude<TransactionResult, { readonly success: true } | { readonly reason: 'request_conflict' }>
  | { readonly success: false; readonly reason: 'run_conflict'; readonly failedIndex: number; readonly error: string }
  | { readonly success: false; readonly reason: 'too_large' | 'queue_not_found'; readonly error: string }

/** Where a group that is not known yet begins; null leaves it to the server. */
export type Start = { readonly mode: 'all' | 'new' } | { readonly from: string } | null

export interface PopCall {
  readonly queue: string
  readonly partition: string | null
  readonly group: string
  readonly batch: number
  /** Null: one, or of a group that conflates as many as messages. */
  readonly partitions: number | null
  readonly wait: boolean
  readonly timeoutMs: number
  readonly leaseSeconds: number | null
  readonly start: Start
  /** Only the newest message of each partition. */
  readonly conflation: boolean
  /** The group is known and does otherwise; what it does stands. */
  readonly onConflict: () => void
}

export interface ConfigureCall {
  readonly queue: string
  readonly namespace: string | null
  readonly task: string | null
  readonly options: QueueSettings
  readonly mode: 'merge' | 'replace'
}

export interface Configured {
  readonly queue: string
  readonly namespace: string
  readonly task: string
  readonly options: EffectiveSettings
}

/** What may be said through a transaction that is open already. */
export interface JoinedTransaction {
  push(items: readonly StagedItem[]): Promise<readonly PushResult[]>
  kv(operations: readonly KvOperation[]): Promise<KvAnswer>
  timers(operations: readonly TimerOperation[]): Promise<readonly TimerResult[]>
  submit(runs: readonly OutgoingRun[]): Promise<Submitted>
}

/** A step in one commit with the user's rows: the body's writes, then the ack, then COMMIT believed by its tag. */
export type StepBody = (tx: TransactionClient, joined: JoinedTransaction) => Promise<void>

export interface Transport extends TimerCalls {
  readonly push: (items: readonly OutgoingItem[]) => Promise<readonly PushResult[]>
  /** Nothing to deliver, or given up because of the signal: an empty list. */
  readonly pop: (call: PopCall, signal: AbortSignal) => Promise<readonly Delivery[]>
  readonly ack: (items: readonly AckItem[]) => Promise<readonly AckResult[]>
  readonly renew: (
    leaseId: string,
    seconds: number,
  ) => Promise<{ readonly renewed: number; readonly expiresAt: string | null }>
  readonly kv: (operations: readonly KvOperation[]) => Promise<KvAnswer>
  readonly locks: (operations: readonly LockOperation[]) => Promise<readonly LockResult[]>
  readonly transaction: (step: OutgoingStep) => Promise<StepAnswer>
  readonly step: (ack: AckItem, body: StepBody) => Promise<StepAnswer>
  readonly configure: (call: ConfigureCall) => Promise<Configured>
  readonly deleteQueue: (queue: string) => Promise<{ readonly existed: boolean }>
  readonly groups: GroupCalls
  readonly queues: QueueReads
  readonly messages: MessageCalls
  readonly traces: TraceCalls
  readonly deadLetters: DeadLetterCalls
  readonly runs: RunCalls
  readonly schedules: ScheduleCalls
  readonly work: (options: WorkerOptions) => Promise<RunningWorker>
  /** Null: through `ask`, as a stream itself knows. */
  readonly streams: () => Promise<StreamCalls | null>
  /** One exchange with a broker, for what only a broker has. */
  readonly ask: (call: HttpCall) => Promise<string>
  readonly migrate: () => Promise<void>
  readonly close: () => Promise<void>
}
