// What a handler tried for the message it holds. The consume loop asks afterwards: a message whose ack took effect is left
// alone, one whose only commit lost is handed back, one that nobody touched is reported. It refuses one
// thing: to acknowledge a message beside the transactional step that acknowledges it.
import { LockstepError } from '../protocol/errors.ts'
import type { AckItem } from '../protocol/message.ts'

/** Why a commit was rolled back. */
export interface Verdict {
  readonly reason: string
  readonly error: string
}

export interface Attempt {
  /** An ack of it took effect, alone or in a commit. */
  settled: boolean
  /** That ack ended it: completed, or dead-lettered. */
  done: boolean
  /** That ack ended the lease: what else was leased of its partition is no longer held. */
  released: boolean
  /** A commit that would have acked it was judged and rolled back. */
  lost: Verdict | null
  /** Somebody else may hold it. */
  leaseLost: boolean
}

export interface AckEffect {
  readonly leaseReleased: boolean
  readonly deadLettered: boolean
}

type Held = Pick<AckItem, 'partitionId' | 'transactionId' | 'group'>

export interface Attempts {
  /** Begins to watch a message; `end` must follow. */
  begin(held: Held, onLeaseLost: () => void): Attempt
  /** The same for a message that a step of its own acknowledges. */
  beginStep(held: Held): void
  end(held: Held): void
  /** Throws when a step that is open acknowledges the message. */
  refuseInStep(items: readonly AckItem[]): void
  acked(item: AckItem, effect: AckEffect): void
  lost(item: AckItem, verdict: Verdict): void
  leaseLost(item: AckItem): void
}

function keyOf({ partitionId, transactionId, group }: Held): string {
  return JSON.stringify([partitionId, group, transactionId])
}

export function watchAttempts(): Attempts {
  const watched = new Map<string, { readonly attempt: Attempt; readonly onLeaseLost: () => void }>()
  const steps = new Set<string>()
  const of = (held: Held): Attempt | undefined => watched.get(keyOf(held))?.attempt
  return {
    begin(held, onLeaseLost) {
      const attempt: Attempt = { settled: false, done: false, released: false, lost: null, leaseLost: false }
      watched.set(keyOf(held), { attempt, onLeaseLost })
      return attempt
    },
    beginStep(held) {
      steps.add(keyOf(held))
    },
    end(held) {
      watched.delete(keyOf(held))
      steps.delete(keyOf(held))
    },
    refuseInStep(items) {
      for (const item of items) {
        if (!steps.has(keyOf(item))) continue
        throw new LockstepError(
          'bad_request',
          `a transactional handler must not acknowledge its message (${item.transactionId}): the step does it when the handler returns; throw to undo the step`,
          { transactionId: item.transactionId },
        )
      }
    },
    acked(item, { leaseReleased, deadLettered }) {
      const attempt = of(item)
      if (attempt === undefined) return
      attempt.settled = true
      attempt.done = item.status === 'completed' || deadLettered
      attempt.released ||= leaseReleased || item.status !== 'completed'
    },
    lost(item, verdict) {
      const attempt = of(item)
      if (attempt !== undefined) attempt.lost = verdict
    },
    leaseLost(item) {
      const found = watched.get(keyOf(item))
      if (found === undefined) return
      found.attempt.leaseLost = true
      found.onLeaseLost()
    },
  }
}
