// What each queue option means, for the reference: apart from the table of options, because clients in browsers carry that one.
import type { QueueOptionName } from './queue-options.ts'

export const QUEUE_OPTION_MEANINGS: Readonly<Record<QueueOptionName, string>> = {
  leaseTime: 'Lease length in seconds when the pop names none; 60 for a queue created by a push or a pop.',
  retryLimit: 'Explicit failures that redeliver before the dead letters.',
  retryDelay: 'Milliseconds before the first redelivery of a failed message; doubles with each failure, with jitter.',
  retryDelayMax: 'Upper bound of the doubled delay in milliseconds.',
  deadLetterQueue: 'Keep exhausted messages; off only when dlqAfterMaxRetries is off too.',
  dlqAfterMaxRetries: 'See deadLetterQueue.',
  crashLimit: 'Lapsed leases that redeliver before the head message is dead-lettered.',
  requireLease: 'Refuse acks that carry no lease.',
  dedupWindowSeconds: 'How long a transaction id is remembered per partition; 0 is off, negative is read as 0.',
  maxSize: 'Messages that may wait for the slowest group before a push is refused with queue_full; 0 is no bound.',
  delayedProcessing: 'A message is visible only when at least this old.',
  windowBuffer: 'A partition that received anything within this many seconds delivers nothing.',
  minPopWaitTime:
    'Hold a pop of any partition that found something, but less than its batch, this many milliseconds for more.',
  retentionEnabled: 'Switch for the next two.',
  retentionSeconds: 'Remove messages older than this, consumed or not, except those under a live lease; 0 is off.',
  completedRetentionSeconds:
    'Remove messages older than this that every group has passed; 0 is off, and without a group nothing is passed.',
  maxWaitTimeSeconds:
    'Remove messages older than this for every group, leases included; 0 is off. Needs no retentionEnabled.',
  deadLetterRetentionSeconds:
    'Remove dead letters that died longer ago than this; 0 keeps them until they are replayed or purged.',
  encryptionEnabled: 'Encrypt payloads at rest, where the processes that push have keys.',
  priority: 'Order among queues in a discovery pop: the highest first.',
  ttl: 'Stored and echoed only.',
  retentionSinkHold: 'Stored and echoed only.',
  retentionSinkHoldMaxSeconds: 'Stored and echoed only.',
}
