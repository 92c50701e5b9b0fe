// The heartbeat on the main loop, where connection settings cannot cross to a thread: renews what is held, a third of the
// lease apart, and tells which claims no longer hold. A beat that fails is simply followed by the next.
import type { NodeLease } from '../../protocol/run.ts'
import type { Held, HeldNodes } from './held-nodes.ts'

export interface HeartbeatPorts {
  readonly held: HeldNodes
  readonly leaseMs: number
  readonly beat: (nodes: readonly NodeLease[]) => Promise<readonly boolean[]>
  readonly onFault: (error: unknown) => void
}

export interface Heartbeat {
  /** It can beat now, or will try as it goes. */
  readonly ready: Promise<void>
  /** Claimed just now. */
  add(nodes: readonly Held[]): void
  stop(): Promise<void>
  readonly kind: 'thread' | 'loop'
}

/** Also how soon a cancelled run's handler hears of it. */
const LONGEST_MS = 5_000

export function beatIntervalMs(leaseMs: number): number {
  return Math.max(20, Math.min(LONGEST_MS, Math.floor(leaseMs / 3)))
}

export function startHeartbeatLoop(ports: HeartbeatPorts): Heartbeat {
  const { held, leaseMs } = ports
  const intervalMs = beatIntervalMs(leaseMs)
  let beating: Promise<void> | null = null

  async function beat(): Promise<void> {
    const at = performance.now()
    // What was claimed since the last beat holds long enough for the next.
    const due = held.all().filter((one) => one.gone === null && one.leaseUntil - at < leaseMs - intervalMs / 2)
    if (due.length === 0) return
    try {
      const nodes = due.map((one) => one.node)
      const holds = await ports.beat(nodes)
      for (const [index, node] of nodes.entries()) {
        if (holds[index] === true) held.renewed(node, at)
        else held.leave(node, 'lost')
      }
    } catch (error) {
      ports.onFault(error)
    }
  }

  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = null
    })
  }, intervalMs)

  return {
    ready: Promise.resolve(),
    add() {},
    async stop() {
      clearInterval(timer)
      await beating
    },
    kind: 'loop',
  }
}
