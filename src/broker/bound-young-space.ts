// Keeps the part of V8's heap in which objects begin at 8 MiB, as if Node had been started with --max-semi-space-size=4. A
// broker's objects die within a request, and the 32 MiB and more that V8 takes by itself only hold garbage. The flag can
// no longer be given when our code runs, but how fast that space may grow can: by nothing, once it is there. It is set for the
// whole process, so only a process that is the broker's own does this.
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

const BOUND_BYTES = 8 * 1024 * 1024

let growth: 1 | 2 | null = null

function hold(): void {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  // V8 gives back most of it while the process rests: then it may grow again up to here.
  const wanted = (young?.space_size ?? 0) < BOUND_BYTES ? 2 : 1
  if (wanted === growth) return
  growth = wanted
  setFlagsFromString(`--semi-space-growth-factor=${wanted}`)
}

/** From now on, for the life of the process. Idempotent. */
export function boundYoungSpace(): void {
  if (growth !== null) return
  hold()
  new PerformanceObserver(hold).observe({ entryTypes: ['gc'] })
}
