// Claims work in batches and keeps handlers busy: a claim takes what there is room for and, when handlers are quick, a little
// ahead, so that neither the database nor a handler waits for the other. Wake-ups are hints; the poll is the floor, and once a
// second a look starts from the beginning, so that a submission that committed late is found.
import { createNodeLine } from './node-line.ts'

export interface Claimed<T> {
  readonly nodes: readonly T[]
  readonly floor: string | null
  /** When the next of what waits is due; a hint. */
  readonly dueInMs: number | null
}

export interface ClaimPorts<T> {
  readonly concurrency: number
  readonly pollMs: number
  readonly claim: (max: number, floor: string | null) => Promise<Claimed<T>>
  /** Runs one to its end; never rejects. `free` gives its handler's place to the next one before that: the handler has
   * returned, and what is left is to write its end down with its like. */
  readonly run: (node: T, free: () => void) => Promise<void>
  readonly onFault: (error: unknown) => void
}

export interface ClaimLoop<T> {
  start(): void
  /** Something may be due now. */
  wake(): void
  /** Nodes that are held already go first. */
  add(nodes: readonly T[]): void
  /** Claims no more; gives what was claimed and not begun. Resolves when no claim is in flight. */
  stop(): Promise<readonly T[]>
  /** Resolves when no handler is at work and all ends are written. */
  idle(): Promise<void>
  readonly running: number
  readonly waiting: number
  readonly lastLookAt: number
  readonly failing: boolean
}

const FIRST_PAUSE_MS = 10
const FULL_SCAN_MS = 1_000
/** How far ahead of the handlers a claim goes, in time at their present pace. */
const AHEAD_MS = 40
const CLAIM_MOST = 1_000
/** Ends on their way whose handlers' places are given on; past it a place waits for its end, so that no pile grows. */
const ENDING_MOST = 2_000

export function createClaimLoop<T>(ports: ClaimPorts<T>): ClaimLoop<T> {
  const { concurrency } = ports
  const line = createNodeLine<T>()
  let running = 0
  /** Running, or returned and not yet ended. */
  let open = 0
  let finished = 0
  let pacedAt = performance.now()
  let pace = 0
  let claiming: Promise<void> | null = null
  let rung = false
  let stopped = true
  let pauseMs = FIRST_PAUSE_MS
  let timer: NodeJS.Timeout | null = null
  let floor: string | null = null
  let scannedAt = 0
  let lastLookAt = performance.now()
  let failing = false
  let idlers: (() => void)[] = []

  function ahead(): number {
    const now = performance.now()
    const ms = now - pacedAt
    if (ms > 20) {
      pace = pace * 0.5 + (finished / ms) * 0.5
      finished = 0
      pacedAt = now
    }
    return Math.min(CLAIM_MOST, Math.floor(pace * AHEAD_MS))
  }

  function room(): number {
    const more = ahead()
    const free = concurrency + more - running - line.size
    // Quick handlers are fed in larger bites: a claim costs the same for one as for many.
    return free >= 1 && (line.size === 0 || free >= more / 2) ? Math.min(free, CLAIM_MOST) : 0
  }

  function begin(): void {
    while (running < concurrency) {
      const node = line.next()
      if (node === null) return
      runOne(node)
    }
  }

  function runOne(node: T): void {
    running += 1
    open += 1
    let placed = true
    const free = (): void => {
      if (!placed) return
      placed = false
      running -= 1
      finished += 1
      begin()
      if (!stopped && hungry) look()
    }
    const freeEarly = (): void => {
      if (open - running < ENDING_MOST) free()
    }
    void ports.run(node, freeEarly).then(() => {
      open -= 1
      free()
      if (open === 0) settleIdlers()
      return undefined
    })
  }

  // True when the last claim was full or there was no room for one: then every end may make room for the next.
  let hungry = true

  function look(): void {
    if (stopped || claiming !== null) return
    const max = room()
    if (max === 0) {
      hungry = true
      return
    }
    if (timer) clearTimeout(timer)
    timer = null
    claiming = claimOnce(max).finally(() => {
      claiming = null
      if (!stopped && (rung || hungry)) look()
    })
  }

  async function claimOnce(max: number): Promise<void> {
    rung = false
    const now = performance.now()
    if (now - scannedAt >= FULL_SCAN_MS) {
      floor = null
      scannedAt = now
    }
    try {
      const outcome = await ports.claim(max, floor)
      lastLookAt = performance.now()
      failing = false
      floor = outcome.floor
      hungry = outcome.nodes.length >= max
      if (outcome.nodes.length > 0) pauseMs = FIRST_PAUSE_MS
      line.put(outcome.nodes)
      begin()
      if (!hungry) plan(outcome.dueInMs)
    } catch (error) {
      failing = true
      hungry = false
      ports.onFault(error)
      plan(null)
    }
  }

  function plan(dueInMs: number | null): void {
    if (stopped) return
    const due = dueInMs === null ? Infinity : Math.max(1, dueInMs)
    const delay = Math.min(pauseMs, due, ports.pollMs)
    pauseMs = Math.min(pauseMs * 1.7, ports.pollMs)
    if (timer) clearTimeout(timer)
    timer = setTimeout(() => {
      timer = null
      look()
    }, delay)
  }

  function settleIdlers(): void {
    for (const resolve of idlers) resolve()
    idlers = []
  }

  return {
    start() {
      if (!stopped) return
      stopped = false
      look()
    },
    wake() {
      rung = true
      pauseMs = FIRST_PAUSE_MS
      look()
    },
    add(nodes) {
      line.putFirst(nodes)
      begin()
    },
    async stop() {
      stopped = true
      if (timer) clearTimeout(timer)
      timer = null
      await claiming
      return line.empty()
    },
    idle: () => (open === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
    get running() {
      return running
    },
    get waiting() {
      return line.size
    },
    get lastLookAt() {
      return lastLookAt
    },
    get failing() {
      return failing
    },
  }
}
