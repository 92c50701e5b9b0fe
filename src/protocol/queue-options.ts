// The queue options: name on the wire, kind, default, bounds. The one table from which configure is checked, stored,
// echoed and documented (its meanings are in queue-option-meanings.ts). `enforced` says whether anything but the echo
// depends on the option today.

import { LIMITS } from './limits.ts'

export interface QueueOption {
  readonly kind: 'integer' | 'boolean' | 'text'
  readonly fallback: number | boolean | string
  readonly min?: number
  readonly max?: number
  readonly column: string
  readonly enforced: boolean
}

export const QUEUE_OPTIONS = {
  leaseTime: {
    kind: 'integer',
    fallback: LIMITS.leaseSecondsConfiguredDefault,
    min: 1,
    max: 604_800,
    column: 'lease_seconds',
    enforced: true,
  },
  retryLimit: {
    kind: 'integer',
    fallback: 3,
    min: 0,
    max: 1_000_000,
    column: 'retry_limit',
    enforced: true,
  },
  retryDelay: {
    kind: 'integer',
    fallback: 1000,
    min: 0,
    max: 86_400_000,
    column: 'retry_delay_ms',
    enforced: true,
  },
  retryDelayMax: {
    kind: 'integer',
    fallback: 3_600_000,
    min: 0,
    max: 86_400_000,
    column: 'retry_delay_max_ms',
    enforced: true,
  },
  deadLetterQueue: {
    kind: 'boolean',
    fallback: true,
    column: 'dead_letter_queue',
    enforced: true,
  },
  dlqAfterMaxRetries: {
    kind: 'boolean',
    fallback: true,
    column: 'dlq_after_max_retries',
    enforced: true,
  },
  crashLimit: {
    kind: 'integer',
    fallback: 10,
    min: 0,
    max: 1_000_000,
    column: 'crash_limit',
    enforced: true,
  },
  requireLease: {
    kind: 'boolean',
    fallback: false,
    column: 'require_lease',
    enforced: true,
  },
  dedupWindowSeconds: {
    kind: 'integer',
    fallback: 3600,
    max: 31_536_000,
    column: 'dedup_window_seconds',
    enforced: true,
  },
  maxSize: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 9_007_199_254_740_991,
    column: 'max_size',
    enforced: true,
  },
  delayedProcessing: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 31_536_000,
    column: 'delayed_processing_seconds',
    enforced: true,
  },
  windowBuffer: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 31_536_000,
    column: 'window_buffer_seconds',
    enforced: true,
  },
  minPopWaitTime: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 60_000,
    column: 'min_pop_wait_ms',
    enforced: true,
  },
  retentionEnabled: {
    kind: 'boolean',
    fallback: false,
    column: 'retention_enabled',
    enforced: true,
  },
  retentionSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'retention_seconds',
    enforced: true,
  },
  completedRetentionSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'completed_retention_seconds',
    enforced: true,
  },
  maxWaitTimeSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'max_wait_seconds',
    enforced: true,
  },
  deadLetterRetentionSeconds: {
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 3_155_760_000,
    column: 'dead_letter_retention_seconds',
    enforced: true,
  },
  encryptionEnabled: {
    kind: 'boolean',
    fallback: false,
    column: 'encryption_enabled',
    enforced: true,
  },
  priority: {
    kind: 'integer',
    fallback: 0,
    min: -2_147_483_648,
    max: 2_147_483_647,
    column: 'priority',
    enforced: true,
  },
  ttl: {
    kind: 'integer',
    fallback: 3600,
    min: 0,
    max: 3_155_760_000,
    column: 'ttl_seconds',
    enforced: false,
  },
  retentionSinkHold: {
    kind: 'text',
    fallback: '',
    column: 'retention_sink_hold',
    enforced: false,
  },
  retentionSinkHoldMaxSeconds: {
    kind: 'integer',
    fallback: 604_800,
    min: 0,
    max: 31_536_000,
    column: 'retention_sink_hold_max_seconds',
    enforced: false,
  },
} as const satisfies Record<string, QueueOption>

export type QueueOptionName = keyof typeof QUEUE_OPTIONS
