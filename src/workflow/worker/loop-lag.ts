// How late this process's event loop runs: a blocked loop is the commonest reason why leases lapse, so it is measured and said.
const TICK_MS = 200

export interface LoopLag {
  /** The worst of the last ten seconds or so. */
  readonly worstMs: number
  stop(): void
}

export function watchLoopLag(onTick: () => void = () => {}): LoopLag {
  let worst = 0
  let due = performance.now() + TICK_MS
  const timer = setInterval(() => {
    const now = performance.now()
    worst = Math.max(worst * 0.98, now - due)
    due = now + TICK_MS
    onTick()
  }, TICK_MS)
  timer.unref()
  return {
    get worstMs() {
      return Math.max(0, Math.round(worst))
    },
    stop: () => clearInterval(timer),
  }
}
