// A consumer turned inside out: its handler meets the caller's loop. What a worker brings waits here until the loop asks for it,
// and counts as handled when the loop asks for the next; however the loop ends, what it had not finished is handed back,
// uncounted. Claims, leases, acks and the drain are the consumer's own.
import type { ConsumeResult } from './consume-loop.ts'
import { HAND_BACK } from './run-handler.ts'

/**
 * What comes, one after the other. Asking for the next one finishes the one before; leaving the loop (break, a throw, `return`,
 * the end of an `await using` block) hands it back. Over when the consumer is: its limit, its idle time, the signal, the
 * client's close. One that is not looped over to its end must be told so by `return`.
 */
export interface Deliveries<T> extends AsyncIterableIterator<T, undefined> {
  return(): Promise<IteratorReturnResult<undefined>>
  [Symbol.asyncIterator](): Deliveries<T>
  [Symbol.asyncDispose](): Promise<void>
}

export interface Meeting<T> {
  /** The consumer's handler. */
  readonly offer: (item: T) => Promise<unknown>
  /** The consumer claims no more: what nobody has taken goes back. */
  readonly halt: () => void
  /** Fires when the loop has been left. */
  readonly signal: AbortSignal
}

interface Offer<T> {
  readonly item: T
  readonly settle: (how: unknown) => void
}

const OVER: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** `start` runs the consumer, at the first item that is asked for. */
export function deliveries<T>(start: (meeting: Meeting<T>) => Promise<ConsumeResult>): Deliveries<T> {
  const left = new AbortController()
  const offers: Offer<T>[] = []
  let inHand: Offer<T> | null = null
  let halted = false
  let running: Promise<unknown> | null = null
  let ended = false
  let wake: () => void = () => {}
  let last: Promise<unknown> = Promise.resolve()

  const offer = async (item: T): Promise<unknown> =>
    halted
      ? HAND_BACK
      : new Promise((settle) => {
          offers.push({ item, settle })
          wake()
        })

  function halt(): void {
    halted = true
    for (const { settle } of offers.splice(0)) settle(HAND_BACK)
  }

  function settleInHand(how: unknown): void {
    inHand?.settle(how)
    inHand = null
  }

  function begin(): Promise<unknown> {
    const consuming = start({ offer, halt, signal: left.signal })
    const over = (): void => {
      ended = true
      wake()
    }
    consuming.then(over, over)
    return consuming
  }

  async function step(): Promise<IteratorResult<T, undefined>> {
    settleInHand(undefined)
    if (left.signal.aborted) return OVER
    running ??= begin()
    for (;;) {
      const taken = offers.shift()
      if (taken !== undefined) {
        inHand = taken
        return { done: false, value: taken.item }
      }
      if (ended) break
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    left.abort()
    const fault = running
    // Told once.
    running = Promise.resolve()
    await fault
    return OVER
  }

  const loop: Deliveries<T> = {
    /** One after the other, whoever asks. */
    async next() {
      const turn = last.then(step)
      last = turn.catch(() => {})
      return turn
    },
    async return() {
      left.abort()
      halt()
      settleInHand(HAND_BACK)
      await last
      settleInHand(HAND_BACK)
      await running
      return OVER
    },
    [Symbol.asyncIterator]: () => loop,
    async [Symbol.asyncDispose]() {
      await loop.return()
    },
  }
  return loop
}
