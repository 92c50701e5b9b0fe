// One step as data: key/value operations, acks, pushes and timers that commit together or not at all, and the verdict on it.
import type { KvLoss, KvOperation, KvResult } from './kv.ts'
import type { AckItem, AckResult, PushItem, PushResult } from './message.ts'
import type { TimerOperation, TimerResult } from './timer.ts'

/** Pushes and acks keep the request's flat order: `operations` first, then `kv`, then `timers`. */
export type StepOperation =
  | { readonly type: 'push'; readonly item: PushItem }
  | { readonly type: 'ack'; readonly item: AckItem }

export interface TransactionRequest {
  /** With it, the same id and body within 24 hours answers the first committed result. */
  readonly requestId: string | null
  /** Hex digest of the body as sent; null without a request id. */
  readonly bodyHash: string | null
  readonly operations: readonly StepOperation[]
  /** get, getMany, put, putIfAbsent, delete, incr, check; not getPrefix. */
  readonly kv: readonly KvOperation[]
  readonly timers: readonly TimerOperation[]
}

export type StepResult = ({ readonly type: 'push' } & PushResult) | ({ readonly type: 'ack' } & AckResult)

/** Judged in the order request id, kv, acks, pushes; the first loser names the reason, and a timer never loses. A rollback is an answer. */
export type TransactionResult =
  | {
      readonly success: true
      readonly operations: readonly StepResult[]
      readonly kv: readonly KvResult[]
      readonly timers: readonly TimerResult[]
      readonly replayed: boolean
    }
  | {
      readonly success: false
      readonly reason: 'kv_precondition'
      readonly failedIndex: number
      readonly kvReason: KvLoss
      readonly value: string | null
      readonly version: number | null
      readonly error: string
    }
  | { readonly success: false; readonly reason: 'rejected_ack'; readonly failedIndex: number; readonly error: string }
  | {
      readonly success: false
      readonly reason: 'duplicate'
      readonly failedIndex: number
      readonly conflict: boolean
      readonly messageId: string
      readonly error: string
    }
  | { readonly success: false; readonly reason: 'queue_full'; readonly failedIndex: number; readonly error: string }
  | { readonly success: false; readonly reason: 'request_conflict'; readonly error: string }
