// How far one group has come in one ring: what it has out under a lease, what is to be delivered again, and what it never
// saw. Each message is leased by itself; a lease that lapsed comes back like a retry. It drops nothing from the ring.
import type { Ring } from './ring.ts'

interface Lease {
  readonly expiresAt: number
  readonly attempts: number
  readonly token: number
}

export interface Taken {
  readonly seq: number
  readonly attempts: number
  readonly token: number
  readonly payload: string
}

export interface Cursor {
  /** Up to `batch`, first what comes again, in the order of the ring. */
  take(batch: number, now: number, leaseMs: number, commit: boolean): readonly Taken[]
  /** Null: no such lease any more. A hand-back was never delivered and is not counted. */
  settle(seq: number, token: number, how: 'done' | 'again' | 'back'): 'acked' | 'redelivered' | 'dropped' | null
  /** How many could be taken now. */
  ready(now: number): number
  /** The oldest message that this group may still need. */
  floor(): number
  /** When the first lease lapses; Infinity without one. */
  nextLapse(): number
  readonly leased: number
  /** Messages given up after their last retry. */
  readonly dropped: number
}

export function createCursor(ring: Ring, retryLimit: () => number): Cursor {
  let fresh = ring.first
  let tokens = 0
  let dropped = 0
  // In the order of their lapses as long as the lease time is not changed: then a later one is merely seen a little late.
  const leases = new Map<number, Lease>()
  const again = new Map<number, number>()

  /** True: it will come again. */
  function giveBack(seq: number, attempts: number): boolean {
    leases.delete(seq)
    if (attempts > retryLimit()) {
      dropped += 1
      return false
    }
    again.set(seq, attempts)
    return true
  }

  function lapse(now: number): void {
    for (const [seq, { expiresAt, attempts }] of leases) {
      if (expiresAt > now) break
      giveBack(seq, attempts)
    }
    // What the ring has dropped meanwhile is nobody's any more.
    for (const lost of [leases, again]) {
      for (const seq of lost.keys()) if (seq < ring.first) lost.delete(seq)
    }
    if (fresh < ring.first) fresh = ring.first
  }

  return {
    take(batch, now, leaseMs, commit) {
      lapse(now)
      const taken: Taken[] = []
      const deliver = (seq: number, attempts: number): void => {
        const message = ring.at(seq)
        if (!message) return
        tokens += 1
        if (!commit) leases.set(seq, { expiresAt: now + leaseMs, attempts, token: tokens })
        taken.push({ seq, attempts, token: tokens, payload: message.payload })
      }
      for (const [seq, attempts] of [...again].toSorted(([a], [b]) => a - b).slice(0, batch)) {
        again.delete(seq)
        deliver(seq, attempts + 1)
      }
      while (taken.length < batch && fresh < ring.next) {
        deliver(fresh, 1)
        fresh += 1
      }
      return taken
    },
    settle(seq, token, how) {
      const lease = leases.get(seq)
      if (!lease || lease.token !== token || seq < ring.first) return null
      if (how !== 'done') {
        return giveBack(seq, lease.attempts - (how === 'back' ? 1 : 0)) ? 'redelivered' : 'dropped'
      }
      leases.delete(seq)
      return 'acked'
    },
    ready(now) {
      lapse(now)
      return again.size + ring.next - fresh
    },
    floor() {
      let floor = fresh
      for (const seq of leases.keys()) if (seq < floor) floor = seq
      for (const seq of again.keys()) if (seq < floor) floor = seq
      return floor
    },
    nextLapse() {
      const [next] = leases.values()
      return next?.expiresAt ?? Infinity
    },
    get leased() {
      return leases.size
    },
    get dropped() {
      return dropped
    },
  }
}
