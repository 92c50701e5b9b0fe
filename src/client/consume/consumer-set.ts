// What consumes in one client, for its close: told to stop, given time to finish what they work on, then left.

/** What runs until it is told to stop, and is given up when that takes too long. */
export interface Running<R> {
  stop(): void
  abandon(): void
  readonly done: Promise<R>
}

export interface ConsumerSet {
  /** Keeps the consumer until it is done, and answers with its result. */
  readonly run: <R>(consumer: Running<R>) => Promise<R>
  /** Resolves when every consumer has ended; those that still work after the time are abandoned. */
  readonly drain: (timeoutMs: number) => Promise<void>
}

function after(milliseconds: number): { readonly over: Promise<void>; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  return { over, cancel: () => clearTimeout(timer) }
}

export function consumerSet(): ConsumerSet {
  const consumers = new Set<Running<unknown>>()
  let draining = false
  return {
    async run(consumer) {
      consumers.add(consumer)
      if (draining) consumer.stop()
      try {
        return await consumer.done
      } finally {
        consumers.delete(consumer)
      }
    },
    async drain(timeoutMs) {
      draining = true
      for (const consumer of consumers) consumer.stop()
      const done = Promise.allSettled([...consumers].map(async (consumer) => consumer.done))
      const patience = after(timeoutMs)
      await Promise.race([done, patience.over])
      patience.cancel()
      for (const consumer of consumers) consumer.abandon()
      await done
    },
  }
}
