// Locks and semaphores: asked for by name, held by renewal, given back. A refusal is a value that names the holders; waiting is
// asking again, so no connection is held by whoever waits. Closing the client gives back what is held.
import { LockstepError } from '../../protocol/errors.ts'
import type { LockHolder, LockOperation, LockPermit, LockResult } from '../../protocol/lock.ts'
import { pause } from '../../protocol/pause.ts'
import { errorLine, type Logger } from '../logger.ts'
import { holdLock, type HeldLock } from './held-lock.ts'
import { lockNameOf, lockWish, permitsOf, type LockOptions, type LockWish } from './lock-input.ts'

export interface LockRefused {
  readonly acquired: false
  readonly name: string
  /** `contended`: somebody was at it at that instant; asking again may well succeed. */
  readonly reason: 'held' | 'contended'
  readonly holders: readonly LockHolder[]
  [Symbol.asyncDispose](): Promise<void>
  [Symbol.dispose](): void
}

export interface Semaphore {
  readonly name: string
  readonly limit: number
  /** One of its permits, or who has them. */
  acquire(options?: LockOptions): Promise<HeldLock | LockRefused>
  /** Runs the work while a permit is held. Throws `lock_held` when none was to be had, `lock_lost` when it was lost meanwhile. */
  withPermit<T>(work: (permit: HeldLock) => T | Promise<T>, options?: LockOptions): Promise<T>
  holders(): Promise<readonly LockPermit[]>
}

export interface Locks {
  /** The lock, kept alive until it is released, or who has it. */
  acquire(name: string, options?: LockOptions): Promise<HeldLock | LockRefused>
  /** Runs the work while the lock is held. Throws `lock_held` when it was not to be had, `lock_lost` when it was lost meanwhile. */
  withLock<T>(name: string, work: (lock: HeldLock) => T | Promise<T>, options?: LockOptions): Promise<T>
  holders(name: string): Promise<readonly LockPermit[]>
  /** At most `limit` hold it at one time. Everybody says the same limit for a name; it is stored nowhere. */
  semaphore(name: string, limit: number): Semaphore
}

export interface LocksClient {
  readonly locks: Locks
  /** Gives back what is held. */
  end(): Promise<void>
}

const WITH_LOCK_WAIT_MS = 30_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000

export function locksClient(
  run: (operations: readonly LockOperation[]) => Promise<readonly LockResult[]>,
  log: Logger,
): LocksClient {
  const held = new Set<HeldLock>()

  async function ask(operation: LockOperation): Promise<LockResult> {
    const [result] = await run([operation])
    if (result === undefined) throw new LockstepError('internal', 'the lock operation has no answer')
    return result
  }

  async function acquire(wish: LockWish): Promise<HeldLock | LockRefused> {
    const { name, ttlSeconds, owner, limit, waitMs, signal } = wish
    const giveUpAt = performance.now() + waitMs
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
      signal?.throwIfAborted()
      const askedAt = performance.now()
      const result = await ask({ op: 'acquire', name, ttlSeconds, owner, limit })
      if (result.op !== 'acquire') throw new LockstepError('internal', 'the lock operation was answered by another one')
      if (result.done) {
        const lock = holdLock({ ask, log, onEnd: (ended) => held.delete(ended) }, wish, result, askedAt)
        held.add(lock)
        if (signal?.aborted) {
          await lock.release()
          signal.throwIfAborted()
        }
        return lock
      }
      const left = giveUpAt - performance.now()
      if (left <= 0) return refusal(name, result.reason === 'contended' ? 'contended' : 'held', result.holders)
      // Spread, so that many that were refused at once do not come back at once.
      await pause(Math.min(left, pauseMs * (0.5 + Math.random())), signal)
    }
  }

  async function within<T>(wish: LockWish, work: (lock: HeldLock) => T | Promise<T>): Promise<T> {
    const lock = await acquire(wish)
    if (!lock.acquired) {
      const owners = lock.holders.map((holder) => holder.owner ?? 'somebody').join(', ')
      throw new LockstepError('lock_held', `the lock '${wish.name}' is ${lock.reason} (${owners})`, {
        lock: wish.name,
        holders: lock.holders,
      })
    }
    let done: T
    try {
      done = await work(lock)
    } finally {
      await giveBack(lock)
    }
    // What was done was not alone to its end: whoever asked for that must hear it.
    lock.signal.throwIfAborted()
    return done
  }

  /** Work that is done is not made undone by a release that is not heard: the lock runs out. */
  async function giveBack(lock: HeldLock): Promise<void> {
    try {
      await lock.release()
    } catch (error) {
      log.warn({ lock: lock.name, error: errorLine(error) }, 'a lock could not be released and will run out')
    }
  }

  async function holders(name: string): Promise<readonly LockPermit[]> {
    const result = await ask({ op: 'get', name: lockNameOf(name) })
    return result.op === 'get' ? result.holders : []
  }

  return {
    locks: {
      acquire: async (name, options = {}) => acquire(lockWish(name, 1, options, 0)),
      withLock: async (name, work, options = {}) => within(lockWish(name, 1, options, WITH_LOCK_WAIT_MS), work),
      holders,
      semaphore(given, permits) {
        const [name, limit] = [lockNameOf(given), permitsOf(permits)]
        return {
          name,
          limit,
          acquire: async (options = {}) => acquire(lockWish(name, limit, options, 0)),
          withPermit: async (work, options = {}) => within(lockWish(name, limit, options, WITH_LOCK_WAIT_MS), work),
          holders: async () => holders(name),
        }
      },
    },
    async end() {
      await Promise.all([...held].map(giveBack))
    },
  }
}

function refusal(name: string, reason: LockRefused['reason'], holders: readonly LockHolder[]): LockRefused {
  return { acquired: false, name, reason, holders, async [Symbol.asyncDispose]() {}, [Symbol.dispose]() {} }
}
