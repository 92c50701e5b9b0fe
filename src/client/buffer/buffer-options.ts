// How a buffer of pushes is bounded, checked at the door. There is no buffer without bounds.
import { integer, optional, readFields, refuse, root } from '../../protocol/check.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { onlyKnown } from '../../protocol/only-known.ts'

export interface BufferOptions {
  /** So many are sent together; default 100, at most 10,000. */
  readonly messageCount?: number | undefined
  /** Fewer are sent when the oldest has waited so long; default 1,000. */
  readonly timeMillis?: number | undefined
  /** Messages held at most, those on their way included; default four times messageCount. A push waits for room. */
  readonly maxSize?: number | undefined
  /** Bytes held at most; default 16 MiB. */
  readonly maxBytes?: number | undefined
  /** Before what could not be sent is sent again, doubling up to 30 s; default 1,000. */
  readonly retryDelayMillis?: number | undefined
}

export interface BufferBounds {
  readonly messageCount: number
  readonly timeMillis: number
  readonly maxSize: number
  readonly maxBytes: number
  readonly retryDelayMillis: number
}

const FIELDS = {
  messageCount: optional(integer(1, LIMITS.pushItems), LIMITS.bufferMessagesDefault),
  timeMillis: optional(integer(1, LIMITS.bufferTimeMs), LIMITS.bufferTimeDefaultMs),
  maxSize: optional(integer(1, LIMITS.bufferSize), null),
  maxBytes: optional(integer(1, LIMITS.bufferBytes), LIMITS.bufferBytesDefault),
  retryDelayMillis: optional(integer(1, LIMITS.bufferRetryMs), LIMITS.bufferRetryDefaultMs),
} as const

export function bufferBounds(options: BufferOptions): BufferBounds {
  const bounds = readFields(FIELDS, options, root())
  onlyKnown(options, Object.keys(FIELDS), 'a buffer')
  const maxSize = bounds.maxSize ?? bounds.messageCount * 4
  if (maxSize < bounds.messageCount) refuse(root(), 'maxSize', `at least messageCount, which is ${bounds.messageCount}`)
  return { ...bounds, maxSize }
}
