// Turns SIGINT and SIGTERM into one abort. Whoever asks again does not want to wait and ends the process at once; but one
// Ctrl-C under npm arrives twice, from the terminal and from npm, so what follows within a moment is the same asking.

const SAME_MS = 1_000

export interface Interruption {
  readonly signal: AbortSignal
  /** Leaves the signals to their defaults again. */
  stop(): void
}

export function watchInterrupt(): Interruption {
  const controller = new AbortController()
  let asked = 0
  const interrupt = (): void => {
    const now = performance.now()
    if (controller.signal.aborted && now - asked > SAME_MS) {
      // By exit() and not by the signal: that takes an embedded server along.
      process.exit(130)
    }
    if (!controller.signal.aborted) asked = now
    controller.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  return {
    signal: controller.signal,
    stop: () => {
      process.off('SIGINT', interrupt)
      process.off('SIGTERM', interrupt)
    },
  }
}
