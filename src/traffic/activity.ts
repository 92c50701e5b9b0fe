// Counts what this process did per queue, for people to look at: messages pushed and delivered, acks and failures. Nothing is
// decided by it, and what cannot be written is counted on. The number of queues is bounded; past it one line stands for all.
export interface ActivityLine {
  readonly queue: string
  readonly pushed: number
  readonly delivered: number
  readonly acked: number
  readonly failed: number
}

export type ActivityKind = 'pushed' | 'delivered' | 'acked' | 'failed'

export interface Activity {
  add(queue: string, kind: ActivityKind, count: number): void
  /** What was done since the last time. */
  take(): readonly ActivityLine[]
  /** Since the start. */
  readonly totals: Readonly<Record<ActivityKind, number>>
}

const QUEUES = 10_000
/** Where what has no line of its own is counted; no queue can have this name, since it is longer than a name may be. */
const OTHERS = '*'.repeat(513)

export function createActivity(): Activity {
  let lines = new Map<string, Record<ActivityKind, number>>()
  const totals = { pushed: 0, delivered: 0, acked: 0, failed: 0 }
  return {
    totals,
    add(queue, kind, count) {
      if (count === 0) return
      totals[kind] += count
      const name = lines.size < QUEUES || lines.has(queue) ? queue : OTHERS
      const line = lines.get(name)
      if (line) line[kind] += count
      else lines.set(name, { pushed: 0, delivered: 0, acked: 0, failed: 0, [kind]: count })
    },
    take() {
      const taken = [...lines].filter(([queue]) => queue !== OTHERS).map(([queue, line]) => ({ queue, ...line }))
      lines = new Map()
      return taken
    },
  }
}
