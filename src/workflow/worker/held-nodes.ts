// The claims that this process holds: kept alive by a heartbeat while they are worked on, told when the database says that one
// no longer holds. A lease that cannot be renewed is let go; the lease law decides, never this process.
import type { ClaimedNode, NodeLease } from '../../protocol/run.ts'

/** lost: the lease is somebody else's or nobody's. abandoned: this worker's patience at its stop is over. */
export type Gone = 'lost' | 'abandoned'

export interface Held {
  readonly node: ClaimedNode
  /** By this process's clock: only to know when trying is pointless. */
  readonly leaseUntil: number
  /** Why nothing of it may be completed any more. */
  readonly gone: Gone | null
  /** Called once, at once when it is gone already. */
  onGone(listener: (why: Gone) => void): () => void
}

export interface HeldNodes {
  hold(nodes: readonly ClaimedNode[], since: number): readonly Held[]
  drop(held: Held): void
  /** The lease was renewed at this time of this process's clock. */
  renewed(node: NodeLease, at: number): void
  leave(node: NodeLease, why: Gone): void
  all(): readonly Held[]
  readonly size: number
}

interface Entry extends Held {
  leaseUntil: number
  gone: Gone | null
  listeners: Set<(why: Gone) => void> | null
}

const keyOf = (node: NodeLease): string => `${node.runId}/${node.ordinal}/${node.leaseId}`

function entryOf(node: ClaimedNode, leaseUntil: number): Entry {
  const entry: Entry = {
    node,
    leaseUntil,
    gone: null,
    listeners: null,
    onGone(listener) {
      if (entry.gone !== null) {
        listener(entry.gone)
        return () => {}
      }
      const listeners = (entry.listeners ??= new Set())
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  return entry
}

export function createHeldNodes(leaseMs: number): HeldNodes {
  const nodes = new Map<string, Entry>()
  return {
    hold(given, since) {
      return given.map((node) => {
        const entry = entryOf(node, since + leaseMs)
        nodes.set(keyOf(node), entry)
        return entry
      })
    },
    drop(held) {
      nodes.delete(keyOf(held.node))
    },
    renewed(node, at) {
      const entry = nodes.get(keyOf(node))
      if (entry !== undefined) entry.leaseUntil = Math.max(entry.leaseUntil, at + leaseMs)
    },
    leave(node, why) {
      const entry = nodes.get(keyOf(node))
      if (entry === undefined || entry.gone !== null) return
      entry.gone = why
      const listeners = entry.listeners ?? []
      entry.listeners = null
      for (const listener of listeners) listener(why)
    },
    all: () => [...nodes.values()],
    get size() {
      return nodes.size
    },
  }
}
