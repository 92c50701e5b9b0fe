// What a handler tried for the message it holds. The consume loop asks afterwards: a message whose ack took effect is left
// alone, one whose only commit lost is handed back, one that nobody touched is reported. Never decides anything itself.
import type { AckItem } from '../protocol/message.ts'

export interface Attempt {
  /** An ack of it took effect, alone or in a commit. */
  settled: boolean
  /** That ack ended it: completed, or dead-lettered. */
  done: boolean
  /** That ack ended the lease: what else was leased of its partition is no longer held. */
  released: boolean
  /** A commit that would have acked it was judged and rolled back. */
  lost: boolean
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
  end(held: Held): void
  acked(item: AckItem, effect: AckEffect): void
  lost(item: AckItem): void
  leaseLost(item: AckItem): void
}

function keyOf({ partitionId, transactionId, group }: Held): string {
  return JSON.stringify([partitionId, group, transactionId])
}

export function watchAttempts(): Attempts {
  const watched = new Map<string, { readonly attempt: Attempt; readonly onLeaseLost: () => void }>()
  const of = (held: Held): Attempt | undefined => watched.get(keyOf(held))?.attempt
  return {
    begin(held, onLeaseLost) {
      const attempt: Attempt = { settled: false, done: false, released: false, lost: false, leaseLost: false }
      watched.set(keyOf(held), { attempt, onLeaseLost })
      return attempt
    },
    end(held) {
      watched.delete(keyOf(held))
    },
    acked(item, { leaseReleased, deadLettered }) {
      const attempt = of(item)
      if (attempt === undefined) return
      attempt.settled = true
      attempt.done = item.status === 'completed' || deadLettered
      attempt.released ||= leaseReleased || item.status !== 'completed'
    },
    lost(item) {
      const attempt = of(item)
      if (attempt !== undefined) attempt.lost = true
    },
    leaseLost(item) {
      const found = watched.get(keyOf(item))
      if (found === undefined) return
      found.attempt.leaseLost = true
      found.onLeaseLost()
    },
  }
}
