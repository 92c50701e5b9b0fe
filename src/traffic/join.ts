// Joins concurrent requests of one verb into few calls: fire when idle, gather while busy, at most `calls` in flight that go
// on as usual; one that lasts (it waits for a lock) makes room for another, and so does a call's worth of waiting requests,
// which would gain nothing by gathering on; up to `most`. Each request in a joined call
// succeeds or fails alone: when the call itself fails and certainly changed nothing, every request runs again by itself.
// The line is bounded by weight. Nothing is held back by a timer.
import { LockstepError } from '../protocol/errors.ts'
import type { ErrorCode } from '../protocol/errors.ts'

export interface JoinOptions<In, Out> {
  /** One call; the outcomes are aligned with the inputs. 'again' puts that input at the head of the line. */
  readonly run: (inputs: readonly In[]) => Promise<readonly (Out | 'again')[]>
  /** Few: what shares a call shares its fixed costs and its commit. Steps at 64 in flight cost PostgreSQL 270 µs each in
   * calls of 8 and 200 in calls of 20. */
  readonly calls: number
  /** In flight while a whole call waits; default `calls`. */
  readonly wholeCalls?: number
  /** In flight at most, those that last included; default `calls`. */
  readonly most?: number
  /** Inputs of one call, and their weight. */
  readonly size: number
  readonly weightOf: (input: In) => number
  readonly weight: number
  /** Weight of everything waiting; past it `overloaded`. */
  readonly line: number
  /** What an input must not share with another one of the same call. */
  readonly keysOf?: (input: In) => readonly string[]
}

export interface Joiner<In, Out> {
  join(input: In): Promise<Out>
  /** Resolves when nothing waits and nothing is in flight. */
  idle(): Promise<void>
  readonly waiting: number
  readonly counters: { readonly calls: number; readonly inputs: number; readonly splits: number }
}

interface Entry<In, Out> {
  readonly input: In
  readonly weight: number
  readonly keys: readonly string[] | null
  readonly resolve: (outcome: Out) => void
  readonly reject: (error: unknown) => void
}

/** Faults after which a repeat is pointless or unsafe: they are the answer of every request in the call. */
const SHARED_FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'unavailable',
  'outcome_unknown',
  'overloaded',
  'draining',
  'closed',
  'schema_missing',
  'schema_newer',
  'schema_outdated',
])

/** Longer than any call takes that does not wait for a lock. */
const LASTING_MS = 100

export function createJoiner<In, Out>(options: JoinOptions<In, Out>): Joiner<In, Out> {
  const { run, keysOf } = options
  let line: Entry<In, Out>[] = []
  let lineWeight = 0
  let inFlight = 0
  let lasting = 0
  let scheduled = false
  let idlers: (() => void)[] = []
  const counters = { calls: 0, inputs: 0, splits: 0 }

  function join(input: In): Promise<Out> {
    const weight = options.weightOf(input)
    if (lineWeight + weight > options.line && line.length > 0) {
      return Promise.reject(new LockstepError('overloaded', 'too much work of this kind waits; come back later'))
    }
    return new Promise<Out>((resolve, reject) => {
      line.push({ input, weight, keys: keysOf ? keysOf(input) : null, resolve, reject })
      lineWeight += weight
      schedule()
    })
  }

  function hasRoom(): boolean {
    if (inFlight >= (options.most ?? options.calls)) return false
    const whole = line.length >= options.size || lineWeight >= options.weight
    return inFlight - lasting < (whole ? (options.wholeCalls ?? options.calls) : options.calls)
  }

  // One turn of the event loop later, so that all requests read in this turn travel together.
  function schedule(): void {
    if (scheduled || !hasRoom() || line.length === 0) return
    scheduled = true
    setImmediate(fire)
  }

  function fire(): void {
    scheduled = false
    while (hasRoom() && line.length > 0) {
      const batch = keysOf ? takeDisjoint() : take()
      inFlight += 1
      void call(batch)
    }
  }

  function take(): Entry<In, Out>[] {
    let weight = 0
    let count = 0
    while (count < line.length && count < options.size) {
      const next = line[count]?.weight ?? 0
      if (count > 0 && weight + next > options.weight) break
      weight += next
      count += 1
    }
    lineWeight -= weight
    return line.splice(0, count)
  }

  /** Entries that share a key stay behind, in their order. */
  function takeDisjoint(): Entry<In, Out>[] {
    const taken = new Set<string>()
    const batch: Entry<In, Out>[] = []
    const left: Entry<In, Out>[] = []
    let weight = 0
    let full = false
    for (const entry of line) {
      const keys = entry.keys ?? []
      full ||= batch.length >= options.size || (batch.length > 0 && weight + entry.weight > options.weight)
      if (full || keys.some((key) => taken.has(key))) left.push(entry)
      else {
        batch.push(entry)
        weight += entry.weight
      }
      // Also for those left behind: nobody overtakes on a shared key.
      if (!full) for (const key of keys) taken.add(key)
    }
    line = left
    lineWeight -= weight
    return batch
  }

  async function call(batch: readonly Entry<In, Out>[]): Promise<void> {
    counters.calls += 1
    counters.inputs += batch.length
    let lasts = false
    const timer = setTimeout(() => {
      lasts = true
      lasting += 1
      schedule()
    }, LASTING_MS)
    try {
      deliver(batch, await run(batch.map((entry) => entry.input)))
    } catch (error) {
      await failed(batch, error)
    }
    clearTimeout(timer)
    if (lasts) lasting -= 1
    inFlight -= 1
    if (line.length > 0) fire()
    else if (inFlight === 0) settleIdlers()
  }

  function deliver(batch: readonly Entry<In, Out>[], outcomes: readonly (Out | 'again')[]): void {
    const again: Entry<In, Out>[] = []
    for (const [index, entry] of batch.entries()) {
      const outcome = outcomes[index]
      if (outcome === 'again') again.push(entry)
      else if (outcome === undefined) entry.reject(new LockstepError('internal', 'a joined call left out an answer'))
      else entry.resolve(outcome)
    }
    if (again.length === 0) return
    line = [...again, ...line]
    for (const entry of again) lineWeight += entry.weight
  }

  async function failed(batch: readonly Entry<In, Out>[], error: unknown): Promise<void> {
    const shared = error instanceof LockstepError && SHARED_FAULTS.has(error.code)
    if (batch.length === 1 || shared) {
      for (const entry of batch) entry.reject(error)
      return
    }
    counters.splits += 1
    // All at once: the one that waits for a lock must not hold up its former neighbours.
    await Promise.all(
      batch.map(async (entry) => {
        try {
          deliver([entry], await run([entry.input]))
        } catch (alone) {
          entry.reject(alone)
        }
      }),
    )
  }

  function settleIdlers(): void {
    const settled = idlers
    idlers = []
    for (const resolve of settled) resolve()
  }

  return {
    join,
    idle: () =>
      inFlight === 0 && line.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve)),
    get waiting() {
      return line.length
    },
    counters,
  }
}
