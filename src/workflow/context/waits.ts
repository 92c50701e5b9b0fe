// What a run of code waits for without a worker, and when there is nothing else left to do: then the run lets go of its
// worker. Whatever is still awaited then never resolves in this run of the code; the next one finds it recorded.
import type { Suspension } from '../../operations/suspend.ts'

type Wait =
  | { readonly kind: 'sleep'; readonly name: string; readonly ms: number }
  | { readonly kind: 'signal'; readonly step: string; readonly signal: string; readonly timeoutMs: number | null }
  | { readonly kind: 'call'; readonly ordinal: number }
  | { readonly kind: 'child'; readonly runId: string }

export interface Waits {
  /** Work of the code is going on until the end of this. */
  during<T>(work: () => Promise<T>): Promise<T>
  /** Steps that are at work. */
  readonly working: () => number
  /** Never resolves. */
  until(wait: Wait): Promise<never>
  /** Resolves when the code can do nothing more but wait. */
  readonly stalled: Promise<Suspension>
  /** The code has ended, so it lets go of nothing any more, whatever it left waiting. False: it had let go before. */
  readonly close: () => boolean
}

/** Turns of the event loop that the code is given to go on after its last step, before it counts as waiting. */
const TURNS = 3

export function createWaits(): Waits {
  const waits: Wait[] = []
  let busy = 0
  let generation = 0
  let end: 'none' | 'stalled' | 'closed' = 'none'
  let stall: (suspension: Suspension) => void = () => {}
  const stalled = new Promise<Suspension>((resolve) => {
    stall = resolve
  })

  function check(): void {
    if (busy > 0 || waits.length === 0 || end !== 'none') return
    const seen = (generation += 1)
    let turns = TURNS
    const turn = (): void => {
      if (seen !== generation || busy > 0 || end !== 'none') return
      turns -= 1
      if (turns > 0) {
        setImmediate(turn)
        return
      }
      end = 'stalled'
      stall(suspensionOf(waits))
    }
    setImmediate(turn)
  }

  return {
    async during(work) {
      busy += 1
      generation += 1
      try {
        return await work()
      } finally {
        busy -= 1
        check()
      }
    },
    working: () => busy,
    until(wait) {
      waits.push(wait)
      check()
      return new Promise<never>(() => {})
    },
    stalled,
    close() {
      if (end === 'none') end = 'closed'
      return end === 'closed'
    },
  }
}

function suspensionOf(waits: readonly Wait[]): Suspension {
  return {
    sleeps: waits.flatMap((wait) => (wait.kind === 'sleep' ? [wait] : [])),
    signals: waits.flatMap((wait) => (wait.kind === 'signal' ? [wait] : [])),
    called: waits.flatMap((wait) => (wait.kind === 'call' ? [wait.ordinal] : [])),
    children: waits.flatMap((wait) => (wait.kind === 'child' ? [wait.runId] : [])),
  }
}
