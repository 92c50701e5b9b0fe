// The names that every entry of the package shows beside the class: declared queues, the error, and what answers are made of.
export type {
  ConnectionOptions,
  HttpOptions,
  LockstepOptions,
  PoolLike,
  PoolOptions,
  PostgresOptions,
} from './client-options.ts'
export { queue, type QueueDefinition } from './queue-definition.ts'
export type { Acknowledge, Client, CloseOptions, Leased, RenewOutcome } from './client.ts'
export type { AckOptions, AckOutcome, AckRef, AckVerb } from './ack-input.ts'
export type { CommitResult, RolledBack, StepOutcome } from './commit-result.ts'
export type {
  DeadLetterBulkOptions,
  DeadLetterFilter,
  DeadLetterListOptions,
  ReplayTarget,
} from './dead-letters/dead-letter-input.ts'
export type {
  DeadLetters,
  DeadMessage,
  DeadMessages,
  ReplayCount,
  ReplayOutcome,
} from './dead-letters/dead-letters-client.ts'
export type {
  Ephemeral,
  EphemeralEntry,
  EphemeralInput,
  EphemeralOutcome,
  EphemeralRef,
  EphemeralVerdict,
} from './ephemeral/ephemeral-queue.ts'
export type { EphemeralMessage } from './ephemeral/ephemeral-message.ts'
export type { EphemeralGrammar, EphemeralSettings } from './ephemeral/ephemeral-plan.ts'
export type { GroupDeleteOptions, Groups } from './groups/groups-client.ts'
export type { InvalidMessage } from './consume/consume-context.ts'
export type { BufferOptions } from './buffer/buffer-options.ts'
export type { QueueBuffer } from './buffer/buffer-set.ts'
export type { BufferedPush, BufferStatus } from './buffer/push-buffer.ts'
export type { Deliveries } from './consume/deliveries.ts'
export type { ConsumeResult } from './consume/consume-loop.ts'
export type { Expiry, Ttl } from './expiry.ts'
export type { Kv } from './kv-client.ts'
export type {
  KvCheckOptions,
  KvCreateOptions,
  KvGuard,
  KvIncrOptions,
  KvPrefixOptions,
  KvPutOptions,
} from './kv-input.ts'
export type { KvEntry, KvFound, KvJudged, KvLost, KvMany, KvOutcome, KvPage, KvWritten } from './kv-outcome.ts'
export type { Guardian, HeldLock, LockCheck } from './locks/held-lock.ts'
export type { LockOptions } from './locks/lock-input.ts'
export type { Locks, LockRefused, Semaphore } from './locks/locks-client.ts'
export type { LockLost } from './guarded-commit.ts'
export type { Logger } from './logger.ts'
export type { Message } from './message.ts'
export type {
  MessageListOptions,
  MessageRef,
  Messages,
  MessageView,
  StoredMessage,
  StoredMessages,
} from './messages/messages-client.ts'
export type { Settings, SubscriptionMode } from './plan.ts'
export type { PushInput, PushOutcome } from './push-input.ts'
export type {
  ConsumeOptions,
  CreateOptions,
  Each,
  Queue,
  QueueDescription,
  Step,
  TransactionalEach,
  Way,
} from './queue-builder.ts'
export type { QueueFilter, QueueOverview, Queues, QueueView } from './queues/queues-client.ts'
export type { EffectiveSettings, QueueSettings } from './queue-settings.ts'
export type { InvalidIssue } from '../protocol/standard-schema.ts'
export type { Delay, NamedQueue, TimerInput, TimerOptions, TimerQueue } from './timers/timer-input.ts'
export type {
  PendingTimer,
  TimerCancelled,
  TimerEntry,
  TimerList,
  TimerOutcome,
  TimerScheduled,
} from './timers/timer-outcome.ts'
export type { StartStream, StreamEntry } from './streams/stream-entry.ts'
export type { TimerListOptions, Timers, TimerWrites } from './timers/timers-client.ts'
export type {
  CommitOptions,
  Transaction,
  TransactionKv,
  TransactionQueue,
  TransactionTimers,
} from './transaction-builder.ts'
export type { NamedTraceEntry, Traced, TraceEntry, TraceInput, TracePage, Traces } from './traces/traces-client.ts'
export type { OpenClient, QueryResult, TransactionClient } from './transaction-client.ts'
export type { StagedQueue, TransactionScope } from './transaction-scope.ts'
export type { Joinable } from '../protocol/joinable.ts'
export type { GroupInfo, GroupLane, SeekTarget } from '../protocol/group-info.ts'
export type { TraceName } from '../protocol/trace.ts'
export type { MessageStatus } from '../protocol/found-message.ts'
export type { MessageCounts, PartitionSummary, QueueDepth } from '../protocol/queue-info.ts'
export type { Untyped } from './untyped.ts'
export { LockstepError, type ErrorCode, type Retry } from '../protocol/errors.ts'
export type { EphemeralDepth, EphemeralGroupDepth, EphemeralOptions } from '../protocol/ephemeral.ts'
export type { KvLoss } from '../protocol/kv.ts'
export type { LockHolder, LockPermit } from '../protocol/lock.ts'
export { QUEUE_MODE } from '../protocol/message.ts'
export * from './definition-names.ts'
