// One partition of an ephemeral queue: messages in the order they came, numbered without gaps, dropped only from the front.
// It knows nothing of groups or bounds; those who do tell it up to where to drop.
import { utf8Length } from '../../protocol/utf8.ts'

export interface RingMessage {
  readonly payload: string
  readonly bytes: number
  /** On the broker's own monotonic clock, milliseconds. */
  readonly at: number
}

/** Bookkeeping of a message beside its payload. */
const OVERHEAD = 64
/** The front of the array is cut off only when it is worth the copy. */
const SLACK = 1_024

export interface Ring {
  readonly partition: string
  /** Number of the first message that is still here, and of the next one to come. */
  readonly first: number
  readonly next: number
  append(payload: string, bytes: number, now: number): void
  at(seq: number): RingMessage | undefined
  /** Drops what stands before this number; gives the bytes that became free. */
  dropBefore(seq: number): number
}

export const bytesOf = (payload: string): number => utf8Length(payload) + OVERHEAD

export function createRing(partition: string): Ring {
  let items: RingMessage[] = []
  let dead = 0
  let first = 0
  return {
    partition,
    get first() {
      return first
    },
    get next() {
      return first + items.length - dead
    },
    append(payload, size, now) {
      items.push({ payload, bytes: size, at: now })
    },
    at: (seq) => (seq < first ? undefined : items[seq - first + dead]),
    dropBefore(seq) {
      let freed = 0
      while (first < seq && dead < items.length) {
        freed += items[dead]?.bytes ?? 0
        items[dead] = GONE
        dead += 1
        first += 1
      }
      if (dead > SLACK && dead * 2 > items.length) {
        items = items.slice(dead)
        dead = 0
      }
      return freed
    },
  }
}

const GONE: RingMessage = { payload: '', bytes: 0, at: 0 }
