// Keeps the heap of a broker's process small, as flags of V8 would that can no longer be given when our code runs. Objects of a
// broker die within a request, and what V8 takes by itself, 32 MiB and more for young ones and as much again as lives for old
// ones, only holds garbage: at its loads the process took 200 to 240 MB, and takes 165 at no higher cost. It is set for the
// whole process, so only one that is the broker's own does this, and first of all, before much was loaded.
import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** As --max-semi-space-size=4. */
const BOUND_BYTES = 8 * 1024 * 1024
/** Of what lives: how much may be added before what does not is looked for. */
const GROWING_PERCENT = 100
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
export function boundHeap(): void {
  if (growth !== null) return
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
  // Grown in small steps by objects that live on: under load it would double twice before anybody looks.
  const kept: object[] = []
  for (let tries = 0; tries < TRIES && youngBytes() < BOUND_BYTES; tries += 1) {
    kept.push(Array.from({ length: OBJECTS }, () => ({ tries })))
  }
  hold()
  new PerformanceObserver(hold).observe({ entryTypes: ['gc'] })
}
