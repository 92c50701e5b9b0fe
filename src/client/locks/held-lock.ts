// A permit that this process holds: its token, which every renewal moves, the renewals themselves, and the signal that tells when
// it is lost. Only the database says who holds it; the clock of this process says no more than that it cannot be held any longer
// without a renewal, counted from before the last one was asked for.
import { LockstepError } from '../../protocol/errors.ts'
import { lockGuard, type LockOperation, type LockResult } from '../../protocol/lock.ts'
import type { KvOperation } from '../../protocol/kv.ts'
import { errorLine, type Logger } from '../logger.ts'
import { ttlOf, type LockWish } from './lock-input.ts'
import type { Ttl } from '../expiry.ts'

export type LockCheck = Extract<KvOperation, { readonly op: 'check' }>

/** What a transaction needs of a lock to commit only while it is held. */
export interface Guardian {
  readonly name: string
  readonly owner: string
  /** Of the token as it is now. */
  guard(): LockCheck
  /** Told that the guard lost: somebody else holds the lock, or nobody. */
  forfeit(): void
}

export interface HeldLock extends Guardian {
  readonly acquired: true
  /** Of a semaphore; 0 for a lock. */
  readonly slot: number
  /** Rises with every renewal and every holder: carry it to whatever must refuse a stale one. */
  readonly token: number
  /** Aborted when the lock is lost, with LockstepError `lock_lost` as its reason. Not by a release. */
  readonly signal: AbortSignal
  /** A new life, as long as the first unless said. False: lost. */
  renew(ttl?: Ttl): Promise<boolean>
  /** Gives it back; false when it was lost before. Once is enough. */
  release(): Promise<boolean>
  [Symbol.asyncDispose](): Promise<void>
  /** `using`: begins the release and does not wait for it. */
  [Symbol.dispose](): void
}

export interface HoldPorts {
  readonly ask: (operation: LockOperation) => Promise<LockResult>
  readonly log: Logger
  /** Told when it is held no longer, whichever way it ended. */
  readonly onEnd: (lock: HeldLock) => void
}

/** No timer of the process is longer: past 2^31 - 1 ms one fires at once. */
const LONGEST_BEAT_MS = 86_400_000
/** After a renewal that failed: sooner than the next beat, and seldom enough for a broker that is down. */
const RETRY_MS = 1_000

export function holdLock(
  ports: HoldPorts,
  wish: LockWish,
  got: { readonly slot: number; readonly token: number },
  askedAt: number,
): HeldLock {
  const { name, owner } = wish
  const { slot } = got
  const lost = new AbortController()
  let { token } = got
  let endsAt = askedAt + wish.ttlSeconds * 1_000
  let over = false
  let beat: ReturnType<typeof setTimeout> | undefined
  let releasing: Promise<boolean> | null = null

  function end(): void {
    if (over) return
    over = true
    clearTimeout(beat)
    ports.onEnd(lock)
  }

  function lose(why: string): void {
    if (over) return
    end()
    lost.abort(new LockstepError('lock_lost', `the lock '${name}' is lost: ${why}`, { lock: name, slot, owner }))
  }

  async function renewFor(ttlSeconds: number): Promise<boolean> {
    const startedAt = performance.now()
    const result = await ports.ask({ op: 'renew', name, token, slot, owner, ttlSeconds })
    if (over) return false
    if (result.op !== 'renew' || !result.done) {
      lose('it ran out and was not renewed in time')
      return false
    }
    token = Math.max(token, result.token)
    endsAt = startedAt + ttlSeconds * 1_000
    return true
  }

  function schedule(milliseconds: number): void {
    if (over) return
    beat = setTimeout(() => void onBeat(), Math.max(1, Math.min(milliseconds, LONGEST_BEAT_MS)))
    // A lock that is held keeps no process alive. In a browser a timer is a number.
    if (typeof beat === 'object') beat.unref()
  }

  async function onBeat(): Promise<void> {
    const left = endsAt - performance.now()
    if (left <= 0) return lose('its time is over and no renewal was heard')
    if (!wish.renew) return schedule(left)
    try {
      await renewFor(wish.ttlSeconds)
      schedule((wish.ttlSeconds * 1_000) / 3)
    } catch (error) {
      if (over) return
      ports.log.warn({ lock: name, error: errorLine(error) }, 'a lock could not be renewed; trying again')
      schedule(Math.min(RETRY_MS, Math.max(1, endsAt - performance.now())))
    }
  }

  const lock: HeldLock = {
    acquired: true,
    name,
    slot,
    owner,
    get token() {
      return token
    },
    signal: lost.signal,
    guard: () => lockGuard(name, slot, token),
    forfeit: () => lose('its guard found another holder, or none'),
    async renew(ttl) {
      if (over) return false
      return renewFor(ttl === undefined ? wish.ttlSeconds : ttlOf(ttl))
    },
    async release() {
      if (releasing !== null) return releasing
      if (over) return false
      end()
      releasing = released()
      return releasing
    },
    async [Symbol.asyncDispose]() {
      await lock.release()
    },
    [Symbol.dispose]() {
      lock.release().catch((error: unknown) => {
        ports.log.warn({ lock: name, error: errorLine(error) }, 'a lock could not be released and will run out')
      })
    },
  }

  /** A renewal that was under way may have moved the token: its owner is told the new one by being refused. */
  async function released(): Promise<boolean> {
    const first = await ports.ask({ op: 'release', name, token, slot })
    if (first.op !== 'release' || first.done) return first.op === 'release'
    if (!first.holders.some((holder) => holder.slot === slot && holder.owner === owner)) return false
    const renewed = await ports.ask({ op: 'renew', name, token, slot, owner, ttlSeconds: wish.ttlSeconds })
    if (renewed.op !== 'renew' || !renewed.done) return false
    const second = await ports.ask({ op: 'release', name, token: renewed.token, slot })
    return second.op === 'release' && second.done
  }

  schedule(wish.renew ? (wish.ttlSeconds * 1_000) / 3 : endsAt - performance.now())
  return lock
}
