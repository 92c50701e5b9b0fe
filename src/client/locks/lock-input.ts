// How a lock is asked for: its name, how long one life of it lasts, who asks, and how long to wait for it. Checked before
// anything is sent.
import { boolean, integer, optional, readFields, root } from '../../protocol/check.ts'
import { durationMs, durationSeconds } from '../../protocol/durations.ts'
import { LockstepError } from '../../protocol/errors.ts'
import { LIMITS } from '../../protocol/limits.ts'
import { mintId } from '../../protocol/mint-id.ts'
import { lockName, lockOwner } from '../../protocol/names.ts'
import type { Ttl } from '../expiry.ts'

export interface LockOptions {
  /** One life of the lock, whole seconds; default '30s'. It is renewed at a third of it. */
  readonly ttl?: Ttl | undefined
  /** Default: minted, so that every acquisition is its own. An owner that asks again while it holds gets the same permit. */
  readonly owner?: string | undefined
  /** Keep it alive until it is released; default true. */
  readonly renew?: boolean | undefined
  /** How long to ask again when others hold it: '10s', or Infinity. Default: not at all for acquire, '30s' for withLock. */
  readonly wait?: Ttl | typeof Infinity | undefined
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined
}

export interface LockWish {
  readonly name: string
  readonly limit: number
  readonly ttlSeconds: number
  readonly owner: string
  readonly renew: boolean
  readonly waitMs: number
  readonly signal: AbortSignal | null
}

export const DEFAULT_TTL: Ttl = '30s'
const FIELDS = { owner: optional(lockOwner, null), renew: optional(boolean, true) } as const
const permits = integer(1, LIMITS.lockPermits)

function refuse(message: string, reason: string): never {
  throw new LockstepError('locks_bad_request', message, { reason })
}

export function lockNameOf(name: string): string {
  try {
    return lockName.read(name, root(), 'name')
  } catch (error) {
    return error instanceof LockstepError ? refuse(error.message, 'locks_bad_name') : refuse('a name', 'locks_bad_name')
  }
}

export function permitsOf(limit: number): number {
  return permits.read(limit, root(), 'limit')
}

export function ttlOf(ttl: unknown): number {
  if (typeof ttl !== 'string') return refuse("ttl must be text such as '30s'", 'locks_bad_ttl')
  const seconds = durationSeconds(ttl, 'ttl')
  if (seconds > LIMITS.ttlSeconds)
    return refuse(`a lock lives for at most ${LIMITS.ttlSeconds} seconds`, 'locks_bad_ttl')
  return seconds
}

function waitOf(wait: unknown, fallbackMs: number): number {
  if (wait === undefined) return fallbackMs
  if (wait === Infinity) return Infinity
  if (typeof wait !== 'string') return refuse("wait must be text such as '10s', or Infinity", 'locks_bad_wait')
  return durationMs(wait, 'wait')
}

export function lockWish(name: string, limit: number, options: LockOptions, waitMs: number): LockWish {
  const { owner, renew } = readFields(FIELDS, options, root())
  return {
    name: lockNameOf(name),
    limit,
    ttlSeconds: ttlOf(options.ttl ?? DEFAULT_TTL),
    owner: owner ?? mintId(),
    renew,
    waitMs: waitOf(options.wait, waitMs),
    signal: options.signal ?? null,
  }
}
