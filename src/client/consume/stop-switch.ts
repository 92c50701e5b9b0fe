// A switch that is thrown once and tells whoever asked. An AbortSignal would do, but many workers of one consumer wait for the
// same switch, and run-times warn of a leak past ten listeners on one signal.

export interface StopSwitch {
  readonly thrown: boolean
  throw(): void
  /** Calls `then` when it is thrown, at once if it was. The returned function takes that back. */
  onThrown(then: () => void): () => void
}

export function stopSwitch(): StopSwitch {
  let thrown = false
  const waiting = new Set<() => void>()
  return {
    get thrown() {
      return thrown
    },
    throw() {
      if (thrown) return
      thrown = true
      for (const then of waiting) then()
      waiting.clear()
    },
    onThrown(then) {
      if (thrown) {
        then()
        return () => {}
      }
      waiting.add(then)
      return () => waiting.delete(then)
    },
  }
}

/** Waits, or less when the switch is thrown. */
export function pauseUnless(stop: StopSwitch, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    let forget = (): void => {}
    const timer = setTimeout(() => {
      forget()
      resolve()
    }, milliseconds)
    forget = stop.onThrown(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
