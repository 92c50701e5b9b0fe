// The queue options: name on the wire, kind, default, bounds. The one table from which configure is checked, stored,
// echoed and documented. `enforced` says whether anything but the echo depends on the option today.

import { LIMITS } from './limits.ts'

export interface QueueOption {
  readonly kind: 'integer' | 'boolean' | 'text'
  readonly fallback: number | boolean | string
  readonly min?: number
  readonly max?: number
  readonly column: string
  readonly enforced: boolean
  readonly meaning: string
}

export const QUEUE_OPTIONS = {
  leaseTime: {
    kind: 'integer',
    fallback: LIMITS.leaseSecondsConfiguredDefault,
    min: 1,
    max: 604_800,
    column: 'lease_seconds',
    enforced: true,
    meaning: 'Lease length in seconds when the pop names none; 60 for a queue created by a push or a pop.',
  },
  retryLimit: {
    kind: 'integer',
    fallback: 3,
    min: 0,
    max: 1_000_000,
    column: 'retry_limit',
    enforced: true,
    meaning: 'Explicit failures that redeliver before the dead letters.',
  },
  retryDelay: {
    kind: 'integer',
    fallback: 1000,
    min: 0,
    max: 86_400_000,
    column: 'retry_delay_ms',
    enforced: true,
    meaning: 'Milliseconds before the first redelivery of a failed message; doubles with each failure, with jitter.',
  },
  retryDelayMax: {
    kind: 'integer',
    fallback: 3_600_000,
    min: 0,
    max: 86_400_000,
    column: 'retry_delay_max_ms',
    enforced: true,
    meaning: 'Upper bound of the doubled delay in milliseconds.',
  },
  deadLetterQueue: {
    kind: 'boolean',
    fallback: true,
    column: 'dead_letter_queue',
    enforced: true,
    meaning: 'Keep exhausted messages; off only when dlqAfterMaxRetries is off too.',
  },
  dlqAfterMaxRetries: {
    kind: 'boolean',
    fallback: true,
    column: 'dlq_after_max_retries',
    enforced: true,
    meaning: 'See deadLetterQueue.',
  },
  crashLimit: {
    kind: 'integer',
    fallback: 10,
    min: 0,
    max: 1_000_000,
    column: 'crash_limit',
    enforced: true,
    meaning: 'Lapsed leases that redeliver before the head message is dead-lettered.',
  },
  requireLease: {
    kind: 'boolean',
    fallback: false,
    column: 'require_lease',
    enforced: true,
    meaning: 'Refuse acks that carry no lease.',
  },
  dedupWindowSeconds: {
    kind: 'integer',
    fallback: 3600,
    max: 31_536_000,
    column: 'dedup_window_seconds',
    enforced: true,
    meaning: 'How long a transaction id is remembered per partition; 0 is off, negative is read as 0.',
  },
  maxSize: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 9_007_199_254_740_991,
    column: 'max_size',
    enforced: true,
    meaning: 'Messages that may wait for the slowest group before a push is refused with queue_full; 0 is no bound.',
  },
  delayedProcessing: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 31_536_000,
    column: 'delayed_processing_seconds',
    enforced: true,
    meaning: 'A message is visible only when at least this old.',
  },
  windowBuffer: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 31_536_000,
    column: 'window_buffer_seconds',
    enforced: true,
    meaning: 'A partition that received anything within this many seconds delivers nothing.',
  },
  minPopWaitTime: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 60_000,
    column: 'min_pop_wait_ms',
    enforced: true,
    meaning:
      'Hold a pop of any partition that found something, but less than its batch, this many milliseconds for more.',
  },
  retentionEnabled: {
    kind: 'boolean',
    fallback: false,
    column: 'retention_enabled',
    enforced: true,
    meaning: 'Switch for the next two.',
  },
  retentionSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'retention_seconds',
    enforced: true,
    meaning: 'Remove messages older than this, consumed or not, except those under a live lease; 0 is off.',
  },
  completedRetentionSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'completed_retention_seconds',
    enforced: true,
    meaning:
      'Remove messages older than this that every group has passed; 0 is off, and without a group nothing is passed.',
  },
  maxWaitTimeSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'max_wait_seconds',
    enforced: true,
    meaning: 'Remove messages older than this for every group, leases included; 0 is off. Needs no retentionEnabled.',
  },
  deadLetterRetentionSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'dead_letter_retention_seconds',
    enforced: true,
    meaning: 'Remove dead letters that died longer ago than this; 0 keeps them until they are replayed or purged.',
  },
  encryptionEnabled: {
    kind: 'boolean',
    fallback: false,
    column: 'encryption_enabled',
    enforced: true,
    meaning: 'Encrypt payloads at rest, where the processes that push have keys.',
  },
  priority: {
    kind: 'integer',
    fallback: 0,
    min: -2_147_483_648,
    max: 2_147_483_647,
    column: 'priority',
    enforced: true,
    meaning: 'Order among queues in a discovery pop: the highest first.',
  },
  ttl: {
    kind: 'integer',
    fallback: 3600,
    min: 0,
    max: 3_155_760_000,
    column: 'ttl_seconds',
    enforced: false,
    meaning: 'Stored and echoed only.',
  },
  retentionSinkHold: {
    kind: 'text',
    fallback: '',
    column: 'retention_sink_hold',
    enforced: false,
    meaning: 'Stored and echoed only.',
  },
  retentionSinkHoldMaxSeconds: {
    kind: 'integer',
    fallback: 604_800,
    min: 0,
    max: 31_536_000,
    column: 'retention_sink_hold_max_seconds',
    enforced: false,
    meaning: 'Stored and echoed only.',
  },
} as const satisfies Record<string, QueueOption>

export type QueueOptionName = keyof typeof QUEUE_OPTIONS
