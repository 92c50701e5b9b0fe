// Keeps the part of V8's heap in which objects begin at 8 MiB, as if Node had been started with --max-semi-space-size=4. A
// broker's objects die within a request, and the 32 MiB and more that V8 takes by itself only hold garbage. The flag can
// no longer be given when our code runs, but how fast that space may grow can: by nothing, once it is there. It is set for the
// whole process, so only a process that is the broker's own does this.
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

const BOUND_BYTES = 8 * 1024 * 1024
const OBJECTS = 2_000
const TRIES = 200

let growth: 1 | 2 | null = null

function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? BOUND_BYTES
}

function hold(): void {
  // V8 may give most of it back while the process rests: then it may grow again up to here.
  const wanted = youngBytes() < BOUND_BYTES ? 2 : 1
  if (wanted === growth) return
  growth = wanted
  setFlagsFromString(`--semi-space-growth-factor=${wanted}`)
}

/** From now on, for the life of the process. Idempotent. */
export function boundYoungSpace(): void {
  if (growth !== null) return
  // Grown in small steps by objects that live on: under load it would double twice before anybody looks.
  const kept: object[] = []
  for (let tries = 0; tries < TRIES && youngBytes() < BOUND_BYTES; tries += 1) {
    kept.push(Array.from({ length: OBJECTS }, () => ({ tries })))
  }
  hold()
  new PerformanceObserver(hold).observe({ entryTypes: ['gc'] })
}
