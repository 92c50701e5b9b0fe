// What became of a timer operation, and a pending timer, as a caller reads them. An absent timer is a value.
import { LockstepError } from '../../protocol/errors.ts'
import type { ReadTimer, ShownTimer, TimerResult } from '../../protocol/timer.ts'
import type { Untyped } from '../untyped.ts'

export interface TimerScheduled {
  /** `rescheduled`: a pending timer of this key was replaced. */
  readonly status: 'scheduled' | 'rescheduled'
  /** Of the message that will be pushed. */
  readonly messageId: string
  readonly transactionId: string
  /** Not before; by the database's clock. */
  readonly deliverAt: string
}

/** `absent`: nothing was pending; it may have fired. */
export type TimerCancelled =
  | { readonly status: 'cancelled'; readonly transactionId: string }
  | { readonly status: 'absent' }

/** Any operation's outcome inside a commit. */
export type TimerOutcome = TimerScheduled | TimerCancelled

export type PendingTimer = Omit<ShownTimer, 'producerSub' | 'encrypted'>

export type TimerEntry<V> =
  | ({ readonly found: true; readonly data: V } & PendingTimer)
  | { readonly found: false; readonly data?: undefined }

export interface TimerList {
  /** In byte order of their keys, without data. */
  readonly timers: readonly PendingTimer[]
  /** Where the next page begins, as `after`; null at the end. */
  readonly nextAfter: string | null
}

export function timerOutcome(result: TimerResult): TimerOutcome {
  const { status, transactionId, messageId, deliverAt } = result
  if (status === 'absent') return { status }
  if (transactionId === null) throw new LockstepError('internal', 'a timer has no transaction id')
  if (status === 'cancelled') return { status, transactionId }
  if (messageId === null || deliverAt === null) throw new LockstepError('internal', 'a timer has no time')
  return { status, messageId, transactionId, deliverAt }
}

export function scheduledOf(result: TimerResult | undefined): TimerScheduled {
  const outcome = result === undefined ? null : timerOutcome(result)
  if (outcome === null || !('deliverAt' in outcome)) throw new LockstepError('internal', 'a timer was not scheduled')
  return outcome
}

export function cancelledOf(result: TimerResult | undefined): TimerCancelled {
  const outcome = result === undefined ? null : timerOutcome(result)
  if (outcome === null || 'deliverAt' in outcome) throw new LockstepError('internal', 'a timer was not cancelled')
  return outcome
}

export function pendingTimer(timer: ShownTimer): PendingTimer {
  const { key, partition, deliverAt, transactionId, messageId, attempts, lastError, createdAt, updatedAt } = timer
  return { key, partition, deliverAt, transactionId, messageId, attempts, lastError, createdAt, updatedAt }
}

export function timerEntry(timer: ReadTimer | null): TimerEntry<Untyped> {
  if (timer === null) return { found: false }
  const { payload, ...shown } = timer
  if (payload === null) {
    throw new LockstepError('encryption_key_missing', `the timer ${timer.key} is sealed with a key that is not here`)
  }
  return { found: true, data: JSON.parse(payload), ...pendingTimer(shown) }
}
