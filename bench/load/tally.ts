// Counts what was done inside the measured window and how long each request took. Nothing is estimated: percentiles are
// read from all the values.

export interface Figures {
  /** Units done in the window: messages, transactions or requests, as the row says. */
  readonly units: number
  readonly requests: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  /** Answers that were not what the load expects, the window's start-up included. */
  readonly errors: number
  readonly firstError: string | null
}

export interface Tally {
  /** False once the window is over: loops end by looking at it. */
  running(): boolean
  /** One request that began at `startedAt` (performance.now()) has done this many units. */
  done(units: number, startedAt: number): void
  failed(what: string): void
  figures(): Figures
}

export function startTally(warmupSeconds: number, seconds: number): Tally {
  const from = performance.now() + warmupSeconds * 1000
  const to = from + seconds * 1000
  const times: number[] = []
  let units = 0
  let errors = 0
  let firstError: string | null = null
  return {
    running: () => performance.now() < to,
    done(count, startedAt) {
      const now = performance.now()
      if (now < from || now > to) return
      units += count
      times.push(now - startedAt)
    },
    failed(what) {
      errors += 1
      firstError ??= what.slice(0, 300)
    },
    figures() {
      const sorted = Float64Array.from(times).toSorted()
      return { units, requests: times.length, seconds, p50: at(sorted, 0.5), p99: at(sorted, 0.99), errors, firstError }
    },
  }
}

/** The value below which this share of the sorted values lies. */
export function at(sorted: Float64Array, share: number): number {
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}
